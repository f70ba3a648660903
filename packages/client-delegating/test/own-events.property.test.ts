// Own events against what they promise: whatever the order of writes, answers and events, no foreign change is kept from
// the handler for good, and each update begins where the last one ended.
import { FakeClock, settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnEvents } from '../src/index.js';
import type { ObjectEventHandler } from '../src/index.js';
import { modelClient, ModelServer, Thing, thing } from './model.js';

interface Update {
  readonly isResync: boolean;
}

type Deed = 'watch' | 'merge' | 'resync' | 'foreign' | 'tick';
const deed = fc.constantFrom<Deed>('watch', 'merge', 'resync', 'foreign', 'tick');
const step = fc.record({
  /** A write, or something that happens without one. */
  what: fc.oneof(
    fc.constantFrom('update' as const, 'guarded patch' as const, 'patch' as const, 'status' as const),
    deed,
  ),
  /** What happens between the commit of the write and its answer. */
  during: fc.array(deed, { maxLength: 3 }),
  fault: fc.option(fc.constantFrom('before' as const, 'after' as const), { nil: undefined, freq: 5 }),
  /** Whether the next step does not wait for the answer. */
  isLoose: fc.boolean(),
});

describe('own events, for any order of writes, answers, events and foreign changes', () => {
  it('keep no foreign change from the handler', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const server = new ModelServer();
        const clock = new FakeClock();
        const live = modelClient(server);
        const own = createOwnEvents({ clock, maxHoldMs: 1000 });
        const foreign = new Set<number>();
        const wrong: string[] = [];
        let size = 1;
        let seen = '';
        let told: Thing | undefined;
        let pending: Deed[] = [];
        const versionOf = (object: { readonly metadata: { readonly resourceVersion?: string } }): string =>
          object.metadata.resourceVersion ?? '';
        const client = own.wrapClient({
          ...live,
          update: async (kind, object, options) => {
            const answer = await live.update(kind, object, options);
            await happenAll();
            return answer;
          },
          patch: async (kind, at, patch, options) => {
            const answer = await live.patch(kind, at, patch, options);
            await happenAll();
            return answer;
          },
        });
        const handler: ObjectEventHandler<Thing, unknown, Update, unknown> = own.wrapHandler(Thing, {
          onAdd: (object) => void (seen = versionOf(object)),
          onUpdate: (from, to, { isResync }: Update) => {
            if (Number(versionOf(to)) < Number(seen)) wrong.push(`${versionOf(to)} after ${seen}`);
            if (Number(versionOf(from)) > Number(versionOf(to)))
              wrong.push(`from ${versionOf(from)} to ${versionOf(to)}`);
            for (const version of foreign)
              if (version > Number(seen) && version <= Number(versionOf(from)) && !isResync)
                wrong.push(`${version} is in neither ${seen} nor what follows ${versionOf(from)}`);
            seen = versionOf(to);
          },
        });
        /** The states that the watch has to tell, oldest first. */
        const untold = (): Thing[] =>
          (server.history.get('ns/a') ?? []).flatMap(({ object }) =>
            object !== undefined && Number(versionOf(object)) > Number(told === undefined ? 0 : versionOf(told))
              ? [object]
              : [],
          );
        const tell = (next: Thing | undefined, isResync = false): void => {
          const before = told;
          if (next === undefined) return;
          told = next;
          if (before === undefined) void handler.onAdd?.(next, {});
          else void handler.onUpdate?.(before, next, { isResync });
        };
        const happen = async (what: Deed): Promise<void> => {
          if (what === 'watch') tell(untold()[0]);
          else if (what === 'merge') tell(untold().at(-1));
          else if (what === 'resync') tell(told, true);
          else if (what === 'tick') await Promise.resolve();
          else foreign.add(Number(versionOf(server.put(thing('a', { spec: { size: ++size } }), false))));
        };
        const happenAll = async (): Promise<void> => {
          for (const what of pending.splice(0)) await happen(what);
        };
        const key = { namespace: 'ns', name: 'a' };
        const write = (what: string): Promise<unknown> => {
          const present = server.objects.get('ns/a') ?? thing('a');
          const body = { spec: { size: ++size } };
          switch (what) {
            case 'update':
              return client.update(Thing, { ...present, ...body });
            case 'guarded patch':
              return client.patch(Thing, key, { type: 'merge', body: { ...body, metadata: present.metadata } });
            case 'status':
              return client.status(Thing).update({ ...present, status: { ready: size } });
            default:
              return client.patch(Thing, key, { type: 'merge', body });
          }
        };
        await client.create(Thing, thing('a', { spec: { size } }));
        tell(untold().at(-1));
        const answers: Promise<unknown>[] = [];
        for (const { what, during, fault, isLoose } of steps) {
          if (what === 'watch' || what === 'merge' || what === 'resync' || what === 'foreign' || what === 'tick') {
            await happen(what);
            continue;
          }
          pending = [...during];
          if (fault !== undefined) server.fault = { when: fault, error: new Error('broken') };
          const answer = write(what).catch(() => undefined);
          server.fault = undefined;
          answers.push(answer);
          if (!isLoose) await answer;
        }
        await Promise.all(answers);
        tell(untold().at(-1));
        await settle();
        await clock.advance(2000);
        expect(wrong).toEqual([]);
        expect([...foreign].filter((version) => version > Number(seen))).toEqual([]);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 2000 },
    );
  });
});
