// Events of an informer as an async iterable: what each reader sees, what operators hold, and what is left behind.
import { isWatchClosed } from '@kctl/client';
import { isDeadlineExceeded } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventStream, waitForEventWithSync } from '../../src/index.js';
import type { EventStream, EventStreamOptions, InformerEvent } from '../../src/index.js';
import { added, deleted, modified, ScriptedServer, thing } from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { feeds, ScriptedSession, ThingKind } from './scripted-session.js';

const shown = ({ type, header, oldHeader }: InformerEvent<Thing>): string =>
  `${type} ${header.name}@${type === 'update' ? `${oldHeader?.resourceVersion}→` : ''}${header.resourceVersion}`;

/** Reads in the background, one event after each `permit`, or all of them. */
function collect<E>(events: AsyncIterable<E>, show: (event: E) => string): { seen: string[]; ended: Promise<string> } {
  const seen: string[] = [];
  const read = async (): Promise<string> => {
    for await (const event of events) seen.push(show(event));
    return 'ended';
  };
  return { seen, ended: read().catch((error: unknown) => String(error)) };
}

async function start(...names: string[]): Promise<ScriptedSession> {
  const session = new ScriptedSession({ source: 'bytes' });
  session.server.page = () => ({ version: 10, items: names.map((name, index) => thing(name, index + 1)) });
  await session.start();
  return session;
}

const streamOf = (session: ScriptedSession, options: EventStreamOptions<Thing> = {}): EventStream<Thing> =>
  createEventStream(session.informer, { clock: session.clock, ...options });

describe('createEventStream', () => {
  it('begins with what is there, for each reader, and ends with the informer', async () => {
    const session = await start('a', 'b');
    const stream = streamOf(session);
    const readers = [collect(stream, shown), collect(stream, shown)];
    await settle();
    session.server.watch.send(modified(thing('a', 11)), deleted(thing('b', 12)));
    await settle();
    const expected = ['add a@1', 'add b@2', 'update a@1→11', 'delete b@12'];
    expect(readers.map(({ seen }) => seen)).toEqual([expected, expected]);
    await session.stop();
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual(['ended', 'ended']);
  });

  it('merges what happens while a reader is busy, and holds up no other one', async () => {
    await using session = await start('a');
    const stream = streamOf(session);
    const quick = collect(stream, shown);
    const slow = stream[Symbol.asyncIterator]();
    expect(shown((await slow.next()).value as InformerEvent<Thing>)).toBe('add a@1');
    session.server.watch.send(modified(thing('a', 11)), modified(thing('a', 12)), added(thing('b', 13)));
    await settle();
    session.server.watch.send(deleted(thing('b', 14)), modified(thing('a', 15)), added(thing('c', 16)));
    await settle();
    const rest: string[] = [];
    for (let index = 0; index < 2; index++) rest.push(shown((await slow.next()).value as InformerEvent<Thing>));
    expect(rest).toEqual(['update a@1→15', 'add c@16']);
    expect(quick.seen.slice(-3)).toEqual(['delete b@14', 'update a@12→15', 'add c@16']);
    await slow.return?.();
  });

  it('keeps each change where asked to', async () => {
    await using session = await start('a');
    const slow = streamOf(session, { delivery: 'every' })[Symbol.asyncIterator]();
    await slow.next();
    session.server.watch.send(modified(thing('a', 11)), modified(thing('a', 12)), deleted(thing('a', 13)));
    await settle();
    const rest: string[] = [];
    for (let index = 0; index < 3; index++) rest.push(shown((await slow.next()).value as InformerEvent<Thing>));
    expect(rest).toEqual(['update a@1→11', 'update a@11→12', 'delete a@13']);
    await slow.return?.();
  });

  it('ends by its signal at once, and by leaving it, also while a read waits; no handler is left', async () => {
    await using session = await start();
    const stop = new AbortController();
    const { ended } = collect(streamOf(session, { signal: stop.signal }).debounce(1000), shown);
    const left = streamOf(session)
      .filter(() => true)
      .changedBy(({ spec }) => spec)
      .debounce(5)
      [Symbol.asyncIterator]();
    const waiting = left.next();
    await settle();
    expect(await left.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    session.server.watch.send(added(thing('a', 11)));
    await settle();
    stop.abort();
    expect(await ended).toBe('ended');
    const { registration } = session.listen();
    await registration.waitForSync();
    expect(session.clock.pendingTimers).toBeLessThanOrEqual(2); // The reflector's own.
    expect(await collect(streamOf(session, { signal: stop.signal }), shown).ended).toBe('ended');
  });

  it('throws what a function of the loop throws, and that the informer has stopped', async () => {
    const session = await start('a');
    const broken = streamOf(session).filter(() => {
      throw new Error('broken filter');
    });
    expect(await collect(broken, shown).ended).toContain('broken filter');
    await session.stop();
    expect(await collect(streamOf(session), shown).ended).toContain('stopped');
  });

  it('refuses options that are not valid', async () => {
    const session = new ScriptedSession();
    expect(() => streamOf(session, { bufferSize: 3 } as never)).toThrow('unknown option "bufferSize"');
    expect(() => streamOf(session, { delivery: 'all' as never })).toThrow('delivery "all" is not valid');
    expect(() => createEventStream({} as never)).toThrow('createEventStream: informer');
    expect(() => streamOf(session).debounce(Number.NaN)).toThrow('debounce: quietMs NaN is not valid');
  });
});

describe('operators', () => {
  it('filter, map and touched objects', async () => {
    await using session = await start('a', 'b');
    const stream = streamOf(session).filter(({ header }) => header.name !== 'b');
    const mapped = collect(
      stream.map(async ({ header }) => header.resourceVersion ?? ''),
      (version) => version,
    );
    const touched = collect(stream.touchedObjects(), ({ metadata }) => String(metadata?.resourceVersion));
    const applied = collect(stream.appliedObjects(), ({ metadata }) => String(metadata?.resourceVersion));
    await settle();
    session.server.watch.send(modified(thing('a', 11)));
    await settle();
    session.server.watch.send(deleted(thing('a', 12)));
    await settle();
    expect([mapped.seen, touched.seen, applied.seen]).toEqual([
      ['1', '11', '12'],
      ['1', '11', '12'],
      ['1', '11'],
    ]);
  });

  it('changedBy leaves out what does not differ from what was read last, though events were merged or filtered', async () => {
    await using session = await start('a');
    const sized = (version: number, size: number): Thing => ({ ...thing('a', version), spec: { size } });
    const stream = streamOf(session)
      .filter(({ header }) => header.resourceVersion !== '12')
      .changedBy(({ spec }) => spec);
    const { seen } = collect(stream, shown);
    await settle();
    for (const next of [sized(11, 1), sized(12, 2), sized(13, 2), sized(14, 2), sized(15, 1)]) {
      session.server.watch.send(modified(next));
      await settle();
    }
    session.server.watch.send(deleted(sized(16, 1)), added(sized(17, 1)));
    await settle();
    expect(seen).toEqual(['add a@1', 'update a@12→13', 'update a@14→15', 'delete a@16', 'add a@17']);
  });

  it('changedBy forgets an object that is gone, also where its delete was filtered out', async () => {
    await using session = await start('a');
    let projected = 0;
    const stream = streamOf(session)
      .filter(({ type }) => type === 'update')
      .changedBy(({ spec }) => (projected++, spec));
    const { seen } = collect(stream, shown);
    await settle();
    const same = (version: number): Thing => ({ ...thing('a', version), spec: { size: 1 } });
    session.server.watch.send(modified(same(11)));
    await settle();
    session.server.watch.send(deleted(same(12)));
    await settle();
    session.server.watch.send(added({ ...same(13), metadata: { ...same(13).metadata, uid: 'other' } }));
    await settle();
    session.server.watch.send(modified({ ...same(14), metadata: { ...same(14).metadata, uid: 'other' } }));
    await settle();
    expect(seen).toEqual(['update a@1→11', 'update a@13→14']);
    expect(projected).toBe(2);
  });

  it.each<[string, EventStreamOptions<Thing>, readonly string[]]>([
    ['adds of objects without the part', {}, ['add a@1', 'delete a@12', 'add a@13']],
    ['an update behind an add that was filtered', { filters: { add: () => false } }, ['update a@1→11', 'delete a@12']],
    ['an add behind a delete that was filtered', { filters: { delete: () => false } }, ['add a@1', 'add a@13']],
  ])('changedBy passes on %s', async (_what, options, expected) => {
    await using session = await start('a');
    const { seen } = collect(
      streamOf(session, options).changedBy(() => undefined),
      shown,
    );
    await settle();
    for (const next of [modified(thing('a', 11)), deleted(thing('a', 12)), added(thing('a', 13, 'other'))]) {
      session.server.watch.send(next);
      await settle();
    }
    expect(seen).toEqual(expected);
  });

  it.each(['reads on', 'leaves'])(
    'debounce throws at the next read what comes while a reader is busy that then %s',
    async (then) => {
      await using session = await start('a');
      const unhandled: unknown[] = [];
      const onUnhandled = (error: unknown): void => void unhandled.push(error);
      process.on('unhandledRejection', onUnhandled);
      const stream = streamOf(session).filter(({ header }) => {
        if (header.name === 'b') throw new Error('the filter');
        return true;
      });
      const events = stream.debounce(0)[Symbol.asyncIterator]();
      expect(shown((await events.next()).value as InformerEvent<Thing>)).toBe('add a@1');
      session.server.watch.send(added(thing('b', 11)));
      await settle();
      if (then === 'reads on') await expect(events.next()).rejects.toThrow('the filter');
      else await events.return?.();
      await settle();
      process.off('unhandledRejection', onUnhandled);
      expect(unhandled).toEqual([]);
    },
  );

  it('debounce waits until an object is quiet, each by itself, and hands on all at the end', async () => {
    const session = await start('a', 'b');
    const timers = session.clock.pendingTimers;
    const { seen, ended } = collect(streamOf(session).debounce(1000), shown);
    await settle();
    await session.clock.advance(600);
    session.server.watch.send(modified(thing('a', 11)));
    await settle();
    await session.clock.advance(400);
    expect(seen).toEqual(['add b@2']);
    session.server.watch.send(added(thing('c', 12)), deleted(thing('c', 13)), modified(thing('a', 14)));
    await settle();
    await session.clock.advance(999);
    expect(seen).toEqual(['add b@2']);
    await session.clock.advance(1);
    expect(seen).toEqual(['add b@2', 'add a@14']);
    expect(session.clock.pendingTimers).toBe(timers);
    session.server.watch.send(modified(thing('b', 15)));
    await settle();
    await session.stop();
    expect([await ended, seen.at(-1)]).toEqual(['ended', 'update b@2→15']);
  });

  it('show a legal history whatever the pace of the reader, and end at the state of the store', async () => {
    const step = fc.record({ name: fc.constantFrom('a', 'b', 'c'), isDelete: fc.boolean(), reads: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, isDebounced) => {
        const session = await start('a');
        const stream = streamOf(session);
        const events = (isDebounced ? stream.debounce(0) : stream)[Symbol.asyncIterator]();
        const state = new Map<string, string | undefined>();
        const live = new Set(['a']);
        let pending: Promise<unknown> | undefined;
        const read = async (): Promise<void> => {
          pending ??= events.next().then(({ done, value }) => {
            pending = undefined;
            if (done !== true) apply(state, value);
          });
          await settle();
        };
        let version = 10;
        for (const { name, isDelete, reads } of steps) {
          version++;
          if (isDelete && live.delete(name)) session.server.watch.send(deleted(thing(name, version)));
          else if (live.has(name)) session.server.watch.send(modified(thing(name, version)));
          else if (live.add(name)) session.server.watch.send(added(thing(name, version, `u-${name}-${version}`)));
          for (let index = 0; index < reads; index++) await read();
        }
        await settle();
        for (let index = 0; index < 8; index++) {
          await read();
          await session.clock.advance(1);
        }
        expect([...state].map(([name, at]) => `${name}@${at}`).toSorted()).toEqual(session.names().toSorted());
        await events.return?.();
        await session.stop();
      }),
      { numRuns: 60 },
    );
  });
});

/** Refuses what no history has. */
function apply(state: Map<string, string | undefined>, event: InformerEvent<Thing>): void {
  const { type, header, oldHeader } = event;
  const known = state.has(header.name);
  if (type === 'add' ? known : !known) throw new Error(`${shown(event)} is not legal`);
  if (type === 'update' && oldHeader?.resourceVersion !== state.get(header.name))
    throw new Error(`${shown(event)}, where ${state.get(header.name)} was read last`);
  if (type === 'delete') state.delete(header.name);
  else state.set(header.name, header.resourceVersion);
}

describe('waitForEvent of a stream', () => {
  it('looks at what is there and at what comes, one condition after the other', async () => {
    await using session = await start('a');
    const found = streamOf(session).waitForEvent([({ type }) => type === 'add', ({ type }) => type === 'delete']);
    await settle();
    session.server.watch.send(deleted(thing('a', 11)));
    expect(shown(await found)).toBe('delete a@11');
  });

  it('ends in time, by either signal, and with the informer', async () => {
    const session = await start();
    const [own, streams] = [new AbortController(), new AbortController()];
    const never = (): boolean => false;
    const stream = streamOf(session, { signal: streams.signal });
    const failures = [
      stream.waitForEvent(never, { timeoutMs: 1000 }),
      stream.waitForEvent(never, { signal: own.signal }),
      stream.waitForEvent(never),
      streamOf(session).waitForEvent(never),
    ].map((wait) => wait.catch((error: unknown) => error));
    await settle();
    await session.clock.advance(1000);
    own.abort(new Error('own'));
    await settle();
    streams.abort(new Error('of the stream'));
    await settle();
    await session.stop();
    const [late, byOwn, byStream, closed] = await Promise.all(failures);
    expect([isDeadlineExceeded(late), String(byOwn), String(byStream), isWatchClosed(closed)]).toEqual([
      true,
      'Error: own',
      'Error: of the stream',
      true,
    ]);
  });
});

describe.each(feeds)('waitForEventWithSync (%s)', (source) => {
  it('does not wait where the precondition holds; waits through an expired watch otherwise; leaves nothing open', async () => {
    const server = new ScriptedServer();
    const clock = new FakeClock();
    server.page = () => ({ version: 10, items: [thing('a', 1)] });
    const options = { kind: ThingKind, listerWatcher: server[source](false), clock, timeoutMs: 60_000 };
    const until = ({ type }: InformerEvent<Thing>): boolean => type === 'delete';
    const at = (count: number) => (indexer: { list(): readonly unknown[] }) => indexer.list().length === count;
    expect(await waitForEventWithSync<Thing>({ ...options, until, precondition: at(1) })).toBeUndefined();
    const found = waitForEventWithSync<Thing>({ ...options, until, precondition: at(0) });
    await settle();
    server.page = () => ({ version: 20, items: [] });
    server.watch.break(new Error('reset'));
    await clock.advance(5000);
    server.watch.send({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    await clock.advance(5000);
    expect((await found)?.finalStateUnknown).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    const late = waitForEventWithSync<Thing>({ ...options, until: () => false, timeoutMs: 1000 }).catch(
      isDeadlineExceeded,
    );
    await settle();
    await clock.advance(1000);
    expect([await late, clock.pendingTimers]).toEqual([true, 0]);
    for (const [wrong, message] of [
      [{ when: 1 }, 'unknown option'],
      [{ kind: 'Pod' }, 'waitForEventWithSync: kind "Pod" is not valid'],
    ] as const)
      await expect(waitForEventWithSync<Thing>({ ...options, until, ...wrong } as never)).rejects.toThrow(message);
  });
});

it.each(['filter', 'map', 'changedBy'] as const)('refuses %s without a function, at the call', (operator) => {
  const stream = createEventStream({ addEventHandler: () => expect.unreachable() });
  const operate: (callback: never) => unknown = stream[operator].bind(stream);
  for (const wrong of [undefined, 'phase', {}])
    expect(() => operate(wrong as never)).toThrow(new RegExp(`^${operator}: .* is not valid: expected a function`));
});
