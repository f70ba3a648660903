// client-go's shared informer and the order of its FIFOs (tools/cache/shared_informer.go, the_real_fifo.go), rule by
// rule. Changes that wait together are in src/pending-changes.test.ts; the indexer's rules are its conformance suite.
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { filterEvents } from '../../src/index.js';
import type { InformerEventHandler } from '../../src/index.js';
import { added, bookmark, deleted, failed, modified, thing } from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { ScriptedSession, sources } from './scripted-session.js';

const listed =
  (version: number, ...items: readonly Thing[]) =>
  () => ({ version, items });

/** Makes the server say that the version is gone, so that the informer lists again. */
async function relist(session: ScriptedSession, version: number, ...items: readonly Thing[]): Promise<void> {
  session.server.page = listed(version, ...items);
  session.server.watch.send(failed(410, 'Expired'));
  await session.clock.advance(100_000);
}

describe.each(sources)('what handlers hear (%s)', (source) => {
  it('is in the store before they hear of it, and out of it when they hear that it is gone', async () => {
    await using session = new ScriptedSession({ source });
    const stores: string[] = [];
    session.informer.addEventHandler({ onEvent: () => void stores.push(session.names().join()) });
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    await session.start();
    session.server.watch.send(modified(thing('x', 11)), deleted(thing('y', 12)));
    await settle();
    expect(stores).toEqual(['x@1,y@2', 'x@1,y@2', 'x@11,y@2', 'x@11']);
  });

  it('is an add for what is new and an update for what is there, whatever the event is called', async () => {
    await using session = new ScriptedSession({ source });
    const { seen } = session.listen();
    await session.start();
    session.server.watch.send(modified(thing('x', 11)), added(thing('x', 12)), deleted(thing('x', 13)));
    session.server.watch.send(deleted(thing('never', 14)));
    await settle();
    expect(seen).toEqual(['add x@11', 'update x@11→12', 'delete x@13']);
  });

  it('has a key, namespace/name, also where a filter made the event', async () => {
    await using session = new ScriptedSession({ source });
    const all: string[] = [];
    const some: string[] = [];
    const hear = (keys: string[]): InformerEventHandler<Thing> => ({ onEvent: ({ key }) => void keys.push(key) });
    session.informer.addEventHandler(hear(all));
    session.informer.addEventHandler(filterEvents(({ object }) => object.spec?.size !== 11, hear(some)));
    await session.start();
    session.server.watch.send(added(thing('x', 10)), modified(thing('x', 11)), deleted(thing('x', 12)));
    await settle();
    expect(all).toEqual(['a/x', 'a/x', 'a/x']);
    expect(some).toEqual(['a/x', 'a/x']);
  });

  it('has the final state in a delete', async () => {
    await using session = new ScriptedSession({ source });
    const sizes: unknown[] = [];
    session.informer.addEventHandler({ onDelete: ({ spec }) => void sizes.push(spec?.size) });
    session.server.page = listed(10, thing('x', 1));
    await session.start();
    session.server.watch.send(deleted(thing('x', 11)));
    await settle();
    expect(sizes).toEqual([11]);
  });

  it('is, after a relist, deletions first, as tombstones, then the rest in the order of the list', async () => {
    await using session = new ScriptedSession({ source });
    session.server.page = listed(10, thing('x', 1), thing('y', 2), thing('z', 3));
    const { seen } = session.listen();
    const stores = new Set<string>();
    session.informer.addEventHandler({ onEvent: () => void stores.add(session.names().join()) });
    await session.start();
    seen.length = 0;
    stores.clear();
    await relist(session, 20, thing('z', 15), thing('a', 14), thing('x', 1));
    expect(seen).toEqual(['delete y@2 unknown', 'update z@3→15', 'add a@14']);
    // The whole list was in the store before the first handler heard of any of it.
    expect([...stores]).toEqual(['a@14,x@1,z@15']);
    expect(session.informer.resourceVersion).toBe('20');
  });

  it('is nothing of what a relist finds unchanged', async () => {
    await using session = new ScriptedSession({ source });
    session.server.page = listed(10, thing('x', 1));
    const { seen } = session.listen();
    await session.start();
    await relist(session, 20, thing('x', 1));
    expect(seen).toEqual(['add x@1 initial']);
  });

  it('is a delete and an add where a name came back as another object behind a relist', async () => {
    await using session = new ScriptedSession({ source });
    session.server.page = listed(10, thing('x', 1));
    const { seen } = session.listen();
    await session.start();
    await relist(session, 20, thing('x', 15, 'u-other'));
    expect(seen).toEqual(['add x@1 initial', 'delete x@1 unknown', 'add x@15']);
  });

  it('is frozen', async () => {
    await using session = new ScriptedSession({ source });
    session.server.page = listed(10, thing('x', 1));
    const frozen: boolean[] = [];
    session.informer.addEventHandler({
      onAdd: (object) => void frozen.push(Object.isFrozen(object), Object.isFrozen(object.spec)),
    });
    await session.start();
    expect(frozen).toEqual([true, true]);
  });
});

describe('registration', () => {
  it('after start replays what is there, then what comes, without gap or repetition', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    await session.start();
    session.server.watch.send(modified(thing('x', 11)));
    await settle();
    const { seen, registration } = session.listen();
    session.server.watch.send(modified(thing('y', 12)), added(thing('z', 13)));
    await settle();
    // y had not been handed out yet when it changed: the replay and the change are one add at most, never a lost one.
    expect(seen.filter((event) => event.includes(' x@'))).toEqual(['add x@11 initial']);
    expect(seen.filter((event) => event.includes(' y@'))).toEqual(['add y@2 initial', 'update y@2→12']);
    expect(seen.filter((event) => event.includes(' z@'))).toEqual(['add z@13']);
    expect(registration.hasSynced).toBe(true);
  });

  it('of one handler twice is two registrations', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1));
    let calls = 0;
    const handler = { onAdd: () => void calls++ };
    const first = session.informer.addEventHandler(handler);
    session.informer.addEventHandler(handler);
    await session.start();
    expect(calls).toBe(2);
    await first.remove();
    session.server.watch.send(added(thing('y', 11)));
    await settle();
    expect(calls).toBe(3);
  });

  it('after the end is an error that says so', async () => {
    await using session = new ScriptedSession();
    await session.start();
    await session.stop();
    expect(session.informer.isStopped).toBe(true);
    expect(() => session.listen()).toThrow(/was not added.*has stopped already/u);
    expect(() => session.informer.addIndexers({ late: () => [] })).toThrow(/have? stopped|has stopped/u);
  });

  it('has synced when every initial add was handled, also those that were handled badly', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    const gate = Promise.withResolvers<undefined>();
    const slow = session.informer.addEventHandler({ onAdd: () => gate.promise });
    const bad = session.informer.addEventHandler({
      onAdd: () => {
        throw new Error('bad handler');
      },
    });
    await session.start();
    expect(session.informer.hasSynced).toBe(true);
    expect([slow.hasSynced, bad.hasSynced]).toEqual([false, true]);
    expect(session.handlerErrors).toHaveLength(2);
    gate.resolve(undefined);
    await slow.waitForSync();
  });

  it('has synced at once where there is nothing', async () => {
    await using session = new ScriptedSession();
    const { registration } = session.listen();
    expect(registration.hasSynced).toBe(false);
    await session.start();
    expect([session.informer.hasSynced, registration.hasSynced]).toEqual([true, true]);
  });

  it('that is removed hears nothing more, not even what waited; removing it again is harmless', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    const gate = Promise.withResolvers<undefined>();
    const seen: string[] = [];
    const registration = session.informer.addEventHandler({
      onAdd: ({ metadata }) => {
        seen.push(metadata.name ?? '');
        return gate.promise;
      },
    });
    await session.start();
    const removal = registration.remove();
    let removed = false;
    void removal.then(() => (removed = true));
    await settle();
    // It waits for the callback that runs.
    expect(removed).toBe(false);
    gate.resolve(undefined);
    await removal;
    await registration.remove();
    await session.stop();
    await registration.remove();
    expect(seen).toEqual(['x']);
  });
});

describe('handlers among themselves', () => {
  it('hear of events in order, one at a time, without waiting for each other', async () => {
    await using session = new ScriptedSession();
    const steps: string[] = [];
    const gates = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    session.informer.addEventHandler({
      onAdd: async ({ metadata }) => {
        steps.push(`begin ${metadata.name}`);
        await gates[steps.length > 1 ? 1 : 0]?.promise;
        steps.push(`end ${metadata.name}`);
      },
    });
    const { seen } = session.listen();
    await session.start();
    session.server.watch.send(added(thing('x', 11)), added(thing('y', 12)));
    await settle();
    expect(steps).toEqual(['begin x']);
    expect(seen).toEqual(['add x@11', 'add y@12']);
    for (const gate of gates) gate.resolve(undefined);
    await settle();
    expect(steps).toEqual(['begin x', 'end x', 'begin y', 'end y']);
  });

  it('keep no more for a slow one than one change for each object, unless it needs every event', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1));
    const gate = Promise.withResolvers<undefined>();
    const heard: Record<string, string[]> = { latest: [], every: [] };
    const [latest, every] = (['latest', 'every'] as const).map((delivery) =>
      session.informer.addEventHandler(
        {
          onUpdate: (old, { metadata }) => {
            heard[delivery]?.push(`${old.metadata.resourceVersion}→${metadata.resourceVersion}`);
            return gate.promise;
          },
        },
        { delivery },
      ),
    );
    await session.start();
    for (let version = 11; version < 16; version++) session.server.watch.send(modified(thing('x', version)));
    await settle();
    expect([latest?.pending, every?.pending]).toEqual([1, 4]);
    gate.resolve(undefined);
    for (let turn = 0; turn < 5; turn++) await settle();
    expect(heard['latest']).toEqual(['1→11', '11→15']);
    expect(heard['every']).toEqual(['1→11', '11→12', '12→13', '13→14', '14→15']);
  });

  it('go on after one that throws or rejects', async () => {
    await using session = new ScriptedSession();
    const bad: string[] = [];
    session.informer.addEventHandler({
      onAdd: ({ metadata }) => {
        bad.push(metadata.name ?? '');
        if (bad.length === 1) throw new Error('thrown');
        return Promise.reject(new Error('rejected'));
      },
    });
    const { seen } = session.listen();
    await session.start();
    session.server.watch.send(added(thing('x', 11)), added(thing('y', 12)), added(thing('z', 13)));
    await settle();
    expect(bad).toEqual(['x', 'y', 'z']);
    expect(seen).toHaveLength(3);
    expect(session.handlerErrors.map(String)).toEqual(['Error: thrown', 'Error: rejected', 'Error: rejected']);
  });
});

describe('a filter', () => {
  it('makes an add of what begins to be accepted, a delete of what no longer is, and nothing of the rest', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('even', 2), thing('odd', 1));
    const seen: string[] = [];
    const handler = filterEvents<Thing>(({ object }) => (object.spec?.size ?? 0) % 2 === 0, {
      onAdd: ({ metadata, spec }, { isInInitialList }) =>
        void seen.push(`add ${metadata.name} ${spec?.size}${isInInitialList ? ' initial' : ''}`),
      onUpdate: (old, { metadata, spec }) => void seen.push(`update ${metadata.name} ${old.spec?.size}→${spec?.size}`),
      onDelete: ({ metadata, spec }) => void seen.push(`delete ${metadata.name} ${spec?.size}`),
    });
    const registration = session.informer.addEventHandler(handler);
    await session.start();
    expect(seen.splice(0)).toEqual(['add even 2 initial']);
    expect(registration.hasSynced).toBe(true);
    const changes = [thing('even', 12), thing('even', 13), thing('odd', 14), thing('odd', 16), thing('even', 17)];
    for (const change of changes) {
      session.server.watch.send(modified(change));
      await settle();
    }
    expect(seen.splice(0)).toEqual(['update even 2→12', 'delete even 12', 'add odd 14', 'update odd 14→16']);
    session.server.watch.send(deleted(thing('even', 18)), deleted(thing('odd', 19)));
    await settle();
    expect(seen).toEqual(['delete odd 19']);
  });

  it('makes events of the version alone, with none of the marks that the change had', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1));
    const seen: object[] = [];
    session.informer.addEventHandler(
      filterEvents<Thing>(({ header }) => header.resourceVersion === '11', {
        onEvent: ({ type, isInInitialList, finalStateUnknown, leftScope, isResync }) =>
          void seen.push({ type, isInInitialList, finalStateUnknown, leftScope, isResync }),
      }),
    );
    await session.start();
    for (const version of [11, 12]) {
      session.server.watch.send(modified(thing('x', version)));
      await settle();
    }
    const marks = { isInInitialList: false, finalStateUnknown: false, leftScope: false, isResync: false };
    expect(seen).toEqual([
      { type: 'add', ...marks },
      { type: 'delete', ...marks },
    ]);
  });

  it('tells of the end of what it told of, also when the last change and the deletion merge', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 2));
    const gate = Promise.withResolvers<undefined>();
    const seen: string[] = [];
    session.informer.addEventHandler(
      filterEvents<Thing>(({ header }) => Number(header.resourceVersion) % 2 === 0, {
        onEvent: ({ type, header }) => {
          seen.push(`${type} ${header.resourceVersion}`);
          return gate.promise;
        },
      }),
    );
    await session.start();
    session.server.watch.send(modified(thing('x', 11)), deleted(thing('x', 13)));
    await settle();
    gate.resolve(undefined);
    await settle();
    expect(seen).toEqual(['add 2', 'delete 13']);
  });
});

describe('resync', () => {
  it('has a period for each handler, of a second at least; 0 means never', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1));
    const never = session.listen();
    const often = session.listen({ resyncMs: 1 });
    const seldom = session.listen({ resyncMs: 2500 });
    await session.start();
    const count = (): number[] =>
      [never, often, seldom].map(({ seen }) => seen.filter((event) => event.endsWith('resync')).length);
    await session.clock.advance(999);
    expect(count()).toEqual([0, 0, 0]);
    await session.clock.advance(1);
    expect(count()).toEqual([0, 1, 0]);
    await session.clock.advance(1500);
    expect(count()).toEqual([0, 2, 1]);
  });

  it('gives a handler that comes after start the period that it asks for', async () => {
    await using session = new ScriptedSession({ resyncMs: 60_000 });
    session.server.page = listed(10, thing('x', 1));
    await session.start();
    const { seen } = session.listen({ resyncMs: 1000 });
    await session.clock.advance(1000);
    expect(seen).toEqual(['add x@1 initial', 'update x@1→1 resync']);
  });
});

describe('lifecycle', () => {
  it('runs once', async () => {
    await using session = new ScriptedSession();
    await session.start();
    await expect(session.informer.run(new AbortController().signal)).rejects.toMatchObject({
      code: 'KCTL_INFORMER_STARTED',
    });
  });

  it('has synced when the list is in the store, and stays so', async () => {
    await using session = new ScriptedSession();
    const gate = Promise.withResolvers<{ version: number; items: Thing[] }>();
    session.server.page = () => gate.promise;
    await session.start();
    expect([session.informer.hasSynced, session.informer.resourceVersion]).toEqual([false, '']);
    gate.resolve({ version: 10, items: [] });
    await session.informer.waitForSync();
    expect(session.informer.resourceVersion).toBe('10');
    await session.stop();
    expect(session.informer.hasSynced).toBe(true);
    await session.informer.waitForSync();
  });

  it('says, when waiting for it takes too long, what it is doing and why', async () => {
    await using session = new ScriptedSession();
    session.server.page = () => Promise.reject(new Error('no route to host'));
    await session.start();
    const waiting = expect(session.informer.waitForSync({ timeoutMs: 500 })).rejects.toThrow(
      /things\.example\.com has not synced: it is retrying since .* because of connection: no route to host/u,
    );
    await session.clock.advance(500);
    await waiting;
  });

  it('tells when the store is at a version, by an event, a bookmark, or what is no news of an object', async () => {
    await using session = new ScriptedSession();
    await session.start();
    const reached: string[] = [];
    for (const version of ['10', '12', '20', '30'])
      void session.informer.waitForResourceVersion(version).then(() => reached.push(version));
    await settle();
    expect(reached).toEqual(['10']);
    session.server.watch.send(added(thing('x', 13)));
    await settle();
    expect(reached).toEqual(['10', '12']);
    session.server.watch.send(bookmark(21));
    await settle();
    expect(reached).toEqual(['10', '12', '20']);
    session.server.watch.send(deleted(thing('never', 30)));
    await settle();
    expect(reached).toEqual(['10', '12', '20', '30']);
  });

  it('adds indexes to a store that is filled', async () => {
    await using session = new ScriptedSession();
    session.server.page = listed(10, thing('x', 1), thing('y', 2));
    await session.start();
    session.informer.addIndexers({ size: (object) => [String(object.spec?.size)] });
    expect(session.informer.indexer.indexKeys('size', '2')).toEqual(['a/y']);
    expect(() => session.informer.addIndexers({ size: () => [] })).toThrow(/size/u);
  });
});
