// Options of an informer that client-go has on its reflector, and the Java Operator SDK on its event sources.
import { sleep } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createSharedInformer, filterEvents } from '../../src/index.js';
import { requireHandler } from '../../src/internal/index.js';
import type { EventFilters } from '../../src/index.js';
import { NotedMetrics } from './noted-metrics.js';
import { added, deleted, failed, modified, refusal, thing } from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { fedFrom, ScriptedSession, sources, ThingKind } from './scripted-session.js';

describe.each(sources)('an informer (%s)', (source) => {
  it('waits between attempts by the back-off that it is given', async () => {
    await using session = new ScriptedSession({ source, backoff: { initialMs: 100, factor: 3, maxMs: 500 } });
    session.server.page = () => {
      throw refusal(500, 'InternalError');
    };
    await session.start();
    const waits: number[] = [];
    for (const expected of [100, 300, 500, 500]) {
      const before = session.server.lists.length;
      await session.clock.advance(expected - 1);
      expect(session.server.lists).toHaveLength(before);
      await session.clock.advance(1);
      waits.push(session.server.lists.length - before);
    }
    expect(waits).toEqual([1, 1, 1, 1]);
  });

  it('starts the back-off over after the time that it is given', async () => {
    await using session = new ScriptedSession({ source, backoff: { initialMs: 100, factor: 10, resetMs: 5_000 } });
    await session.start();
    const delays: number[] = [];
    for (const quietMs of [0, 4_000, 60_000]) {
      await session.clock.advance(quietMs);
      const before = session.server.lists.length;
      session.server.watch.send(failed(410, 'Expired'));
      const failedAt = session.clock.monotonicNow();
      while (session.server.lists.length === before) await session.clock.advance(50);
      delays.push(session.clock.monotonicNow() - failedAt);
    }
    expect(delays).toEqual([100, 1_000, 100]);
  });

  it('reopens a watch that an InternalError ends, within the window for such errors, and lists without one', async () => {
    const ended = async (maxInternalErrorRetryMs?: number): Promise<number> => {
      const window = maxInternalErrorRetryMs === undefined ? {} : { maxInternalErrorRetryMs };
      await using session = new ScriptedSession({ source, ...window });
      await session.start();
      session.server.watch.send(modified(thing('x', 12)), failed(500, 'InternalError'));
      await settle();
      await session.clock.advance(60_000);
      return session.server.lists.length;
    };
    expect(await ended(60_000)).toBe(1);
    expect(await ended()).toBeGreaterThan(1);
  });

  it('gives a handler the events that pass the filter of their type, and reports a filter that throws', async () => {
    await using session = new ScriptedSession({ source });
    const filters: EventFilters<Thing> = {
      add: ({ object }) => object.spec?.size !== 1,
      update: ({ object, oldObject }) => {
        if (object.spec?.size === 13) throw new Error('the filter');
        return object.spec?.size !== oldObject?.spec?.size;
      },
      delete: () => false,
    };
    const seen: string[] = [];
    session.informer.addEventHandler(
      { onEvent: ({ type, header }) => void seen.push(`${type} ${header.name}@${header.resourceVersion}`) },
      { filters },
    );
    const all = session.listen();
    session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('y', 2)] });
    await session.start();
    session.server.watch.send(modified(thing('x', 11)), modified(thing('y', 12)), modified(thing('y', 13)));
    session.server.watch.send(added(thing('z', 14)), deleted(thing('y', 15)));
    await settle();
    expect(seen).toEqual(['add y@2', 'update x@11', 'update y@12', 'add z@14']);
    expect(session.handlerErrors.map(String)).toEqual(['Error: the filter']);
    expect(all.seen).toHaveLength(7);
  });

  it.each<[string, unknown, boolean, readonly string[]]>([
    ['true', true, true, []],
    ['a value that counts as true', 'x', true, []],
    ['nothing', undefined, false, []],
    ['null', null, false, []],
    ['0', 0, false, []],
    ['a promise of true', Promise.resolve(true), false, ['filters.add', 'filterEvents: accepts']],
    ['a promise that rejects', 0, false, ['filters.add', 'filterEvents: accepts']],
  ])('takes %s that a filter returns as `if` does, and reports a promise', async (what, returned, passes, reported) => {
    await using session = new ScriptedSession({ source });
    const seen: string[] = [];
    const answer = (): never =>
      (what === 'a promise that rejects' ? Promise.reject(new Error('dropped')) : returned) as never;
    const listen = (name: string) => ({ onEvent: ({ type }: { type: string }) => void seen.push(`${name} ${type}`) });
    session.informer.addEventHandler(listen('by type'), { filters: { add: answer } });
    session.informer.addEventHandler(filterEvents(answer, listen('by object')));
    session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
    await session.start();
    await settle();
    expect(seen).toEqual(passes ? ['by type add', 'by object add'] : []);
    expect(session.handlerErrors.map(String)).toEqual(
      reported.map((where) =>
        expect.stringContaining(`TypeError: ${where} returned a promise: filters are synchronous`),
      ),
    );
  });

  it('exports the version of its store, counts index errors, and times callbacks where that is asked for', async () => {
    const metrics = new NotedMetrics();
    const clock = new FakeClock();
    const stop = new AbortController();
    const { server } = new ScriptedSession({ source });
    server.page = () => ({ version: 10, items: [thing('x', 1)] });
    const informer = createSharedInformer<Thing>({
      kind: ThingKind,
      ...fedFrom(server, source, false),
      clock,
      metrics,
      handlerMetrics: true,
      indexers: {
        broken: () => {
          throw new Error('no');
        },
      },
    });
    informer.addEventHandler(
      { onAdd: () => sleep(250, { clock }), onDelete: () => Promise.reject(new Error('x')) },
      { name: 'slow' },
    );
    const running = informer.run(stop.signal);
    await settle();
    await clock.advance(250);
    server.watch.send(modified(thing('x', 11)));
    await settle();
    server.watch.send(deleted(thing('x', 12)));
    await settle();
    const name = 'things.example.com';
    expect(metrics.get('informer_store_resource_version', { name })).toBe(12);
    expect(metrics.get('informer_index_errors_total', { name, index: 'broken' })).toBe(2);
    expect(metrics.times('informer_handler_duration_seconds', { name, handler: 'slow' })).toEqual([0.25, 0, 0]);
    stop.abort();
    await running;
    expect(metrics.get('informer_store_resource_version', { name })).toBeUndefined();
  });
});

it('does not time callbacks unless that is asked for', async () => {
  const metrics = new NotedMetrics();
  await using session = new ScriptedSession({ metrics });
  session.listen();
  session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
  await session.start();
  expect([...metrics.observed.keys()].filter((key) => key.startsWith('informer_handler'))).toEqual([]);
});

it('refuses handlers that cannot be called, and waits that cannot end, at the call', async () => {
  const { informer } = new ScriptedSession();
  for (const wrong of [undefined, null, 'log', () => undefined]) {
    expect(() => informer.addEventHandler(wrong as never)).toThrow(
      /^addEventHandler: handler .* is not valid: expected/,
    );
    expect(() => filterEvents(() => true, wrong as never)).toThrow(/^filterEvents: handler .* is not valid: expected/);
  }
  expect(() => informer.addEventHandler({ onAdd: 'log' } as never)).toThrow(
    'addEventHandler: onAdd of the handler "log" is not valid: expected a function',
  );
  expect(() => requireHandler(5 as never, {})).toThrow(
    'requireHandler: where 5 is not valid: expected the name of a call',
  );
  expect(() => filterEvents('web' as never, {})).toThrow('filterEvents: accepts "web" is not valid');
  const registration = informer.addEventHandler({});
  const signal = new AbortController() as never;
  await expect(informer.waitForSync({ signal })).rejects.toThrow(
    'signal is an AbortController: expected an AbortSignal',
  );
  await expect(registration.waitForSync({ signal })).rejects.toThrow('expected an AbortSignal');
  for (const timeoutMs of [-1, Number.NaN, '5' as never])
    await expect(informer.waitForResourceVersion('5', { timeoutMs })).rejects.toThrow(
      'is not valid: expected a number',
    );
  for (const wait of [
    (options: never) => informer.waitForSync(options),
    (options: never) => informer.waitForResourceVersion('5', options),
    (options: never) => registration.waitForSync(options),
  ]) {
    await expect(wait({ timeout: 5 } as never)).rejects.toThrow('cannot wait: unknown option "timeout"');
    await expect(wait(null as never)).rejects.toThrow('cannot wait: options null is not valid');
  }
});

it('refuses a back-off and filters that cannot be', () => {
  const { informer, server } = new ScriptedSession();
  const create = (options: object): unknown =>
    createSharedInformer<Thing>({ kind: ThingKind, listerWatcher: server.objects(false), ...options });
  expect(() => create({ backoff: { initial: 5 } })).toThrow('unknown option "backoff.initial"');
  expect(() => create({ backoff: { maxMs: 0 } })).toThrow('backoff.maxMs 0 is not valid');
  expect(() => create({ maxInternalErrorRetryMs: -1 })).toThrow('maxInternalErrorRetryMs -1 is not valid');
  expect(() => informer.addEventHandler({}, { filters: { added: () => true } as never })).toThrow(
    'unknown option "filters.added": did you mean',
  );
  expect(() => informer.addEventHandler({}, { filters: { add: true } as never })).toThrow(
    'filters.add true is not valid: expected a function of the event',
  );
});
