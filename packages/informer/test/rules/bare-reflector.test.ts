// A reflector without an informer: what it puts into a store of the caller's, and that it goes on whatever that store does.
import { createIndexer } from '@kctl/cache-index';
import { formatKey, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, Persisted } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it, vi } from 'vitest';
import { createDeltaController, createDeltaFifo, createReflector, RequeueError } from '../../src/index.js';
import type { DeltaFifo, ReflectorOptions, ReflectorStore } from '../../src/index.js';
import {
  added,
  bookmark,
  deleted,
  failed,
  initialEnd,
  modified,
  rawItem,
  ScriptedServer,
  thing,
} from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { feeds, ThingKind } from './scripted-session.js';
import type { FeedName } from './scripted-session.js';

class Notes implements ReflectorStore<DeepReadonly<Thing>> {
  readonly seen: string[] = [];
  readonly #note = (what: string, { metadata }: DeepReadonly<Thing>): void => {
    this.seen.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  };
  add = (object: DeepReadonly<Thing>): void => this.#note('add', object);
  update = (object: DeepReadonly<Thing>): void => this.#note('update', object);
  delete = (object: DeepReadonly<Thing>): void => this.#note('delete', object);
  replace(objects: readonly DeepReadonly<Thing>[], version: string, info: { isIncomplete: boolean }): void {
    const names = objects.map(({ metadata }) => metadata.name).join(' ');
    this.seen.push(`replace [${names}]@${version}${info.isIncomplete ? ' incomplete' : ''}`);
  }
  resync = (): void => void this.seen.push('resync');
  bookmark = (version: string): void => void this.seen.push(`bookmark ${version}`);
}

async function start(
  options: Partial<ReflectorOptions<Thing>> & { source?: FeedName; streams?: boolean; server?: ScriptedServer } = {},
): Promise<
  {
    server: ScriptedServer;
    clock: FakeClock;
    store: Notes;
    errors: unknown[];
    run: Promise<void>;
  } & AsyncDisposable & {
      reflector: ReturnType<typeof createReflector>;
    }
> {
  const { source = 'bytes', streams = false, server = new ScriptedServer(), ...rest } = options;
  const clock = new FakeClock();
  const store = new Notes();
  const errors: unknown[] = [];
  const stop = new AbortController();
  const reflector = createReflector<Thing>({
    kind: ThingKind,
    listerWatcher: server[source](streams),
    store,
    clock,
    random: () => 0,
    onStoreError: (error) => void errors.push(error),
    ...rest,
  });
  const run = reflector.run(stop.signal);
  run.catch(() => undefined);
  await settle();
  return {
    server,
    clock,
    store,
    errors,
    run,
    reflector,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await run.catch(() => undefined);
    },
  };
}

describe.each(feeds)('a bare reflector (%s)', (source) => {
  it('replaces by the list, then hands on each event and bookmark', async () => {
    const server = new ScriptedServer();
    server.page = () => ({ version: 10, items: [thing('a', 1), thing('b', 2)] });
    await using session = await start({ source, server });
    server.watch.send(added(thing('c', 11)), modified(thing('a', 12)), deleted(thing('b', 13)), bookmark(20));
    await settle();
    expect(session.store.seen).toEqual(['replace [a b]@10', 'add c@11', 'update a@12', 'delete b@13', 'bookmark 20']);
    expect(session.reflector).toMatchObject({
      resourceVersion: '20',
      state: { phase: 'watching' },
      trouble: undefined,
    });
  });

  it.each([undefined, true, false])(
    'hands on objects that cannot be changed, unless told not to (freeze: %s)',
    async (freeze) => {
      const store = new Notes();
      const areFrozen: boolean[] = [];
      store.replace = (objects) => void areFrozen.push(...objects.map(({ metadata }) => Object.isFrozen(metadata)));
      store.add = ({ metadata }) => void areFrozen.push(Object.isFrozen(metadata));
      const server = new ScriptedServer();
      server.page = () => ({ version: 10, items: [thing('a', 1)] });
      await using session = await start({ source, server, store, ...(freeze === undefined ? {} : { freeze }) });
      session.server.watch.send(added(thing('b', 11)));
      await settle();
      expect(areFrozen).toEqual([freeze !== false, freeze !== false]);
    },
  );

  it('replaces by the initial events of a stream, as one', async () => {
    await using session = await start({ source, streams: true });
    session.server.watch.send(
      added(thing('a', 1)),
      added(thing('b', 2)),
      modified(thing('a', 3)),
      deleted(thing('b', 4)),
    );
    await settle();
    expect(session.store.seen).toEqual([]);
    session.server.watch.send(initialEnd(9), added(thing('c', 10)));
    await settle();
    expect(session.store.seen).toEqual(['replace [a]@9', 'add c@10']);
  });

  it('lists again when its version has expired, from where it was, by the back-off that is given', async () => {
    await using session = await start({ source, backoff: { initialMs: 100, factor: 3 } });
    session.server.watch.send(modified(thing('a', 12)), failed(410, 'Expired'));
    await settle();
    await session.clock.advance(99);
    expect(session.server.lists).toHaveLength(1);
    await session.clock.advance(1);
    expect(session.server.lists.map(({ resourceVersion }) => resourceVersion)).toEqual(['0', '12']);
    expect(session.store.seen).toEqual(['replace []@10', 'update a@12', 'replace []@10']);
  });

  it('goes on when the store throws: that costs one object', async () => {
    const store = new Notes();
    const report: unknown[] = [];
    const broken: ReflectorStore<DeepReadonly<Thing>> = {
      add: store.add,
      update: () => {
        throw new Error('full');
      },
      delete: store.delete,
      replace: () => undefined,
    };
    await using session = await start({
      source,
      store: broken,
      onStoreError: (error) => void report.push(String(error)),
    });
    session.server.watch.send(modified(thing('a', 11)), added(thing('b', 12)), bookmark(15));
    await settle();
    expect(report).toEqual(['Error: full']);
    expect(store.seen).toEqual(['add b@12']);
    expect(session.reflector.resourceVersion).toBe('15');
  });

  it.each([false, true])(
    'lists again, by the back-off, what the store did not take (streaming: %s)',
    async (streams) => {
      const store = new Notes();
      const replace = store.replace.bind(store);
      let isFull = true;
      store.replace = (...list) => {
        if (isFull) throw new Error('no room');
        replace(...list);
      };
      const server = new ScriptedServer();
      server.page = () => ({ version: 10, items: [thing('a', 1)] });
      const troubles: string[] = [];
      await using session = await start({
        source,
        streams,
        server,
        store,
        watchErrorHandler: ({ reason, message }) => void troubles.push(`${reason}: ${message}`),
      });
      const stream = async (): Promise<void> => {
        if (streams) server.watch.send(added(thing('a', 1)), initialEnd(10));
        await settle();
      };
      await stream();
      expect([session.reflector.state.phase, session.reflector.trouble?.reason]).toEqual(['retrying', 'store']);
      await session.clock.advance(800);
      await stream();
      isFull = false;
      await session.clock.advance(1599);
      expect(store.seen).toEqual([]);
      await session.clock.advance(1);
      await stream();
      expect([store.seen, session.reflector.state.phase]).toEqual([['replace [a]@10'], 'watching']);
      expect(troubles).toEqual(
        Array.from({ length: 2 }, () => 'store: the store did not take what was listed: no room'),
      );
      expect(session.errors).toHaveLength(2);
      server.watch.send(added(thing('b', 11)));
      await settle();
      expect(store.seen.at(-1)).toBe('add b@11');
    },
  );

  it('asks the store for a resync, never the server, while a watch runs', async () => {
    await using session = await start({ source, resyncMs: 1000 });
    await session.clock.advance(2000);
    expect(session.store.seen).toEqual(['replace []@10', 'resync', 'resync']);
    expect(session.server.lists).toHaveLength(1);
  });

  it('ends with the error that the watch error handler stops for, and runs once', async () => {
    const server = new ScriptedServer();
    server.page = () => {
      throw new Error('gone');
    };
    await using session = await start({ source, server, watchErrorHandler: () => 'stop' });
    await expect(session.run).rejects.toThrow('gone');
    await expect(session.reflector.run(new AbortController().signal)).rejects.toThrow('was started already');
  });
});

it('refuses to run without a signal, and runs with one after that', async () => {
  const server = new ScriptedServer();
  const reflector = createReflector<Thing>({
    kind: ThingKind,
    listerWatcher: server.bytes(false),
    store: new Notes(),
    clock: new FakeClock(),
  });
  await expect(reflector.run(undefined as never)).rejects.toThrow(
    'reflector things.example.com: run needs an AbortSignal',
  );
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  await settle();
  expect(reflector.state.phase).toBe('watching');
  stop.abort();
  await run;
});

it('says that a replacement is incomplete where an item cannot be read', async () => {
  const server = new ScriptedServer();
  server.page = () => ({ version: 10, items: [rawItem('{"metadata":{"name":"x"'), thing('a', 1)] });
  await using session = await start({ source: 'bytes', server });
  expect(session.store.seen).toEqual(['replace [a]@10 incomplete']);
});

it('does not take a replacement for incomplete because of what does not belong there', async () => {
  const server = new ScriptedServer();
  server.page = () => ({ version: 10, items: [{ ...thing('x', 1), kind: 'Other' }, thing('a', 1)] });
  await using session = await start({ source: 'bytes', server });
  expect(session.store.seen).toEqual(['replace [a]@10']);
});

it('goes on whatever its hooks and its store do: throw, reject, return promises', async () => {
  const { add, update } = new Notes();
  const rejecting = (): never => Promise.reject(new Error('late')) as never;
  const reported: string[] = [];
  const server = new ScriptedServer();
  await using session = await start({
    source: 'bytes',
    server,
    store: { add: rejecting, update, delete: add, replace: rejecting, resync: rejecting },
    resyncMs: 1000,
    onStoreError: (error) => {
      reported.push(String(error));
      throw new Error('broken hook');
    },
    watchErrorHandler: rejecting,
  });
  server.watch.send(added(thing('a', 11)), failed(500, 'InternalError'));
  await session.clock.advance(60_000);
  expect(session.server.watches.length).toBeGreaterThan(1);
  expect(session.reflector.state.phase).toBe('watching');
  expect(reported).toContain('TypeError: store.resync returned a promise: a store works synchronously');
});

it('processes on when process and the hook for its failures throw', async () => {
  const server = new ScriptedServer();
  server.page = () => ({ version: 10, items: [thing('a', 1), thing('b', 2)] });
  const seen: string[] = [];
  const controller = createDeltaController<Thing>({
    kind: ThingKind,
    listerWatcher: server.bytes(false),
    queue: createDeltaFifo(),
    process: (_, { key }) => {
      seen.push(key);
      throw new Error('broken');
    },
    onProcessError: () => Promise.reject(new Error('broken hook')) as never,
  });
  const stop = new AbortController();
  const run = controller.run(stop.signal);
  await vi.waitFor(() => expect(seen).toEqual(['a/a', 'a/b']));
  stop.abort();
  await run;
});

it('refuses options that are not known, in all three, naming the nearest', () => {
  const common = { kind: ThingKind, listerWatcher: new ScriptedServer().bytes(false) };
  const hint =
    /unknown option "(?:resync|backoff.initial|emitReplace)": did you mean "(?:resyncMs|backoff.initialMs|initialMs|emitReplaced)"/;
  expect(() => createReflector<Thing>({ ...common, store: new Notes(), resync: 5 } as never)).toThrow(hint);
  expect(() => createReflector<Thing>({ ...common, store: new Notes(), backoff: { initial: 5 } } as never)).toThrow(
    hint,
  );
  expect(() => createDeltaFifo({ emitReplace: false } as never)).toThrow(hint);
  const queue = createDeltaFifo<never>();
  expect(() => createDeltaController({ ...common, queue, process: () => undefined, resync: 5 } as never)).toThrow(hint);
});

it.each([
  [{ store: {} as never }, 'createReflector: store'],
  [{ kind: 'Pod' as never }, 'createReflector: kind'],
  [{ listerWatcher: {} as never }, 'createReflector: listerWatcher'],
  [{ resyncMs: Number.NaN }, 'resyncMs'],
  [{ backoff: { factor: 0 } }, 'backoff.factor'],
])('refuses %o', (wrong, message) => {
  const options = { kind: ThingKind, listerWatcher: new ScriptedServer().bytes(false), store: new Notes() };
  expect(() => createReflector<Thing>({ ...options, ...wrong })).toThrow(message);
});

describe('the classic diagram by hand: reflector, DeltaFIFO, indexer', () => {
  it('keeps the store equal to the server, through an outage in which objects came and went', async () => {
    const server = new ScriptedServer();
    server.page = () => ({ version: 10, items: [thing('a', 1), thing('b', 2)] });
    const indexer = createIndexer<Thing & Persisted>();
    const queue: DeltaFifo<DeepReadonly<Thing & Persisted>> = createDeltaFifo({
      knownObjects: {
        keys: () => indexer.list().map((object) => formatKey(keyOf(object))),
        get: (key) => indexer.list().find((object) => formatKey(keyOf(object)) === key),
      },
    });
    const events: string[] = [];
    const clock = new FakeClock();
    const failures: unknown[] = [];
    const controller = createDeltaController<Thing>({
      kind: ThingKind,
      listerWatcher: server.bytes(false),
      queue,
      clock,
      random: () => 0,
      onProcessError: (error) => void failures.push(error),
      process: (deltas, { isInInitialList }) => {
        for (const { type, key, object } of deltas) {
          if (key === 'a/poison') throw new Error('poison');
          if (type !== 'Deleted') indexer.put(object);
          else if (object !== undefined) indexer.delete(keyOf(object));
          events.push(`${type} ${key}${isInInitialList ? ' initially' : ''}`);
        }
      },
    });
    const stop = new AbortController();
    const run = controller.run(stop.signal);
    await settle();
    expect([controller.hasSynced, events.splice(0)]).toEqual([
      true,
      ['Replaced a/a initially', 'Replaced a/b initially'],
    ]);
    server.watch.send(added(thing('poison', 11)), added(thing('c', 12)));
    await settle();
    server.page = () => ({ version: 30, items: [thing('a', 25), thing('d', 26)] });
    server.watch.send(failed(410, 'Expired'));
    await clock.advance(5000);
    await settle();
    expect(events).toEqual(['Added a/c', 'Replaced a/a', 'Replaced a/d', 'Deleted a/b', 'Deleted a/c']);
    expect(indexer.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'd']);
    expect(failures.map(String)).toEqual(['Error: poison']);
    stop.abort();
    await run;
    expect(queue.isClosed).toBe(true);
  });

  it('lets other work run while process asks for its deltas again and again', async () => {
    const server = new ScriptedServer();
    server.page = () => ({ version: 10, items: [thing('a', 1)] });
    let attempts = 0;
    const controller = createDeltaController<Thing>({
      kind: ThingKind,
      listerWatcher: server.objects(false),
      queue: createDeltaFifo(),
      onProcessError: () => undefined,
      process: () => {
        if (++attempts < 50) throw new RequeueError();
      },
    });
    const stop = new AbortController();
    const run = controller.run(stop.signal);
    const turns: number[] = [];
    while (attempts < 50) {
      await new Promise((resolve) => setImmediate(resolve));
      turns.push(attempts);
    }
    expect(turns.length).toBeGreaterThan(10);
    stop.abort();
    await run;
  });
});
