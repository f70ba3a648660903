// The life of a controller: what begins, stays and ends, at any moment. See designs/006-reconcile-loop.md, part A.
import { getEventListeners } from 'node:events';
import { settle } from '@kctl/wait/testing';
import { createPriorityQueue } from '@kctl/workqueue';
import { describe, expect, it } from 'vitest';
import type { ReconcileRequest, Source, SourceContext } from '../src/index.js';
import {
  channelSource,
  createController,
  createEventChannel,
  cronSource,
  enqueueRequestForObject,
  enqueueRequestsFromMapFunc,
  funcSource,
  kindSource,
  pollingSource,
} from '../src/index.js';
import { FakeInformers, Node, Pod, pod, ReplicaSet, StoringInformer } from './fakes.js';
import type { TestReconcile } from './harness.js';
import { createHarness } from './harness.js';
import { createRecordingLogger } from './recording-logger.js';

const never = (): Promise<never> => new Promise(() => undefined);
const names = (runs: readonly { name: string }[]): string[] => runs.map(({ name }) => name);
const toSelf = enqueueRequestsFromMapFunc<string, { name: string }>((name) => [{ name }]);
const stored = (reconcile?: TestReconcile, options: Parameters<typeof createHarness>[1] = {}) =>
  createHarness(reconcile, options, new FakeInformers(() => new StoringInformer()));

/** A source that a test ends, fails and syncs by hand. */
function manualSource(name: string) {
  const contexts: SourceContext<unknown>[] = [];
  const synced: PromiseWithResolvers<undefined>[] = [];
  let stops = 0;
  const source: Source<unknown> = {
    name,
    start: async (context) => {
      contexts.push(context);
      const sync = Promise.withResolvers<undefined>();
      synced.push(sync);
      return { waitForSync: () => sync.promise, stop: () => void stops++ };
    },
  };
  return { source, contexts, synced, stops: () => stops };
}

describe('a run with a life', () => {
  it('ends warm: sources go on, dirty keys wait, and the next run has them', async () => {
    const cut: string[] = [];
    const t = stored(async ({ name }, { signal }) => {
      if (name !== 'slow' || cut.length > 0) return;
      cut.push(name);
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    t.pods.sync();
    t.pods.add(pod('a'));
    const life = new AbortController();
    const lease = new AbortController();
    const first = t.controller.run(lease.signal, { life: life.signal });
    await settle();
    t.pods.add(pod('slow'));
    await settle();
    t.pods.add(pod('waits'));
    lease.abort(new Error('the lease is lost'));
    await first;
    expect([t.controller.phase, t.pods.handlers.size, t.informers.calls]).toEqual(['warm', 1, 1]);
    t.pods.add(pod('meanwhile'));
    await t.clock.advance(60_000);
    expect(names(t.runs)).toEqual(['a', 'slow']);
    const again = new AbortController();
    const second = t.controller.run(again.signal, { life: life.signal });
    await settle();
    const [, , ...later] = t.runs;
    // What was dirty first, by its priority; everything else at low priority, each once.
    expect(later.map(({ name, priority }) => [name, priority])).toEqual([
      ['waits', 0],
      ['slow', 0],
      ['meanwhile', 0],
      ['a', -100],
    ]);
    expect([t.informers.calls, t.pods.handlers.size]).toEqual([1, 1]);
    life.abort();
    expect(t.controller.phase).toBe('active');
    again.abort();
    await second;
    await t.controller.waitUntilCold();
    expect([t.controller.phase, t.pods.handlers.size, t.clock.pendingTimers]).toEqual(['cold', 0, 0]);
    for (const { signal } of [life, lease, again]) expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends cold when its life ends while it is warm', async () => {
    const t = stored();
    t.pods.sync();
    const life = new AbortController();
    const lease = new AbortController();
    const done = t.controller.run(lease.signal, { life: life.signal });
    await settle();
    lease.abort();
    await done;
    const cold = t.controller.waitUntilCold();
    let isCold = false;
    void cold.then(() => (isCold = true));
    await settle();
    expect([isCold, t.controller.phase]).toEqual([false, 'warm']);
    life.abort();
    await cold;
    expect([t.controller.phase, t.pods.handlers.size]).toEqual(['cold', 0]);
  });

  it('ends cold when it fails', async () => {
    const t = createHarness();
    const mine = manualSource('mine');
    t.controller.watch(mine.source);
    const life = new AbortController();
    t.pods.sync();
    const done = t.controller.run(t.stop.signal, { life: life.signal });
    done.catch(() => undefined);
    await settle();
    mine.synced[0]?.resolve(undefined);
    await settle();
    mine.contexts[0]?.fail(new Error('stream broke'));
    await expect(done).rejects.toThrow('stream broke');
    expect([t.controller.phase, mine.stops()]).toEqual(['cold', 1]);
    for (const { signal } of [life, t.stop]) expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('keeps a request that was taken from the queue and not begun', async () => {
    const t = stored();
    t.pods.sync();
    t.pods.add(pod('gone'));
    const life = new AbortController();
    const lease = new AbortController();
    const first = t.controller.run(lease.signal, { life: life.signal });
    await settle();
    t.controller.maxConcurrentReconciles = 0;
    t.pods.delete(pod('gone')); // which no replay shows
    await settle();
    lease.abort();
    await first;
    t.controller.maxConcurrentReconciles = 1;
    t.runs.splice(0);
    const last = new AbortController();
    const second = t.controller.run(last.signal, { life: life.signal });
    await settle();
    expect(names(t.runs)).toEqual(['gone']);
    last.abort();
    life.abort();
    await second;
    await t.controller.waitUntilCold();
  });

  it('takes no item that it does not begin: none is lost when the stop comes between', async () => {
    const t = stored();
    t.pods.sync();
    const life = new AbortController();
    for (let round = 0; round < 20; round++) {
      const lease = new AbortController();
      const done = t.controller.run(lease.signal, { life: life.signal });
      for (let turn = 0; turn < round; turn++) await Promise.resolve();
      t.pods.add(pod(`p${round}`));
      lease.abort();
      await done;
    }
    const last = new AbortController();
    const done = t.controller.run(last.signal, { life: life.signal });
    await settle();
    expect(new Set(names(t.runs)).size).toBe(20);
    last.abort();
    life.abort();
    await done;
    await t.controller.waitUntilCold();
  });
});

describe('a warm-up', () => {
  it('ends its sources with its signal: pollers, cron, handlers, timers', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    let polls = 0;
    t.controller.watch(
      pollingSource<string, { name: string }>({
        name: 'things',
        everyMs: 1000,
        identify: String,
        poll: async () => {
          polls++;
          return ['x'];
        },
        handler: toSelf,
      }),
    );
    t.controller.watch(cronSource({ name: 'hourly', schedule: '@hourly', requests: () => [{ name: 'cron' }] }));
    t.pods.sync();
    const warm = new AbortController();
    await t.controller.warmup?.(warm.signal);
    await t.clock.advance(5000);
    const before = polls;
    expect([before > 1, t.clock.pendingTimers > 0]).toEqual([true, true]);
    warm.abort();
    await t.controller.waitUntilCold();
    await t.clock.advance(60_000);
    expect([polls, t.clock.pendingTimers, t.pods.handlers.size, t.controller.phase]).toEqual([before, 0, 0, 'cold']);
  });

  it('outlives the runs between, and the last of them to end ends the sources', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    t.pods.sync();
    const warm = new AbortController();
    await t.controller.warmup?.(warm.signal);
    const lease = new AbortController();
    const done = t.controller.run(lease.signal);
    await settle();
    lease.abort();
    await done;
    expect([t.controller.phase, t.pods.handlers.size]).toEqual(['warm', 1]);
    warm.abort();
    await t.controller.waitUntilCold();
    expect([t.controller.phase, t.pods.handlers.size]).toEqual(['cold', 0]);
  });

  it('is over before it begins when its signal is aborted', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    await t.controller.warmup?.(AbortSignal.abort());
    expect([t.controller.phase, t.informers.calls]).toEqual(['cold', 0]);
  });
});

describe('run again', () => {
  it('waits for a run that drains, so that remove and add need no await', async () => {
    const hold = Promise.withResolvers<undefined>();
    const t = createHarness(async ({ name }) => {
      if (name === 'slow') await hold.promise;
    });
    const { done } = await t.start();
    t.pods.add(pod('slow'));
    await settle();
    t.stop.abort();
    const again = new AbortController();
    const second = t.controller.run(again.signal);
    await settle();
    expect([t.controller.phase, t.controller.inFlight]).toEqual(['draining', ['default/slow']]);
    hold.resolve(undefined);
    await done;
    await settle();
    expect(t.controller.phase).toBe('active');
    again.abort();
    await second;
  });

  it('is refused while another run is active, also behind one that drains', async () => {
    const t = createHarness();
    const { done } = await t.start();
    t.stop.abort();
    const again = new AbortController();
    const second = t.controller.run(again.signal);
    const third = t.controller.run(again.signal);
    await expect(third).rejects.toThrow('was started more than once');
    again.abort();
    await Promise.all([done, second]);
  });

  it('starts nothing when its signal is aborted before', async () => {
    const t = createHarness();
    await t.controller.run(AbortSignal.abort());
    expect([t.informers.calls, t.controller.phase]).toEqual([0, 'cold']);
  });
});

describe('a watch that is removed', () => {
  it('before it has synced ends itself, and neither the run nor its start', async () => {
    const t = createHarness();
    const mine = manualSource('mine');
    const watch = t.controller.watch(mine.source);
    const waiting = watch.waitForSync();
    const removed = expect(waiting).rejects.toThrow('the watch was removed');
    await t.start();
    expect(t.controller.phase).toBe('cold');
    await watch.remove();
    await removed;
    await settle();
    expect([t.controller.phase, mine.stops()]).toEqual(['active', 1]);
    t.stop.abort();
  });

  it('before the controller runs rejects what waits for its sync', async () => {
    const t = createHarness();
    const watch = t.controller.watch(manualSource('mine').source);
    const stop = new AbortController();
    const waiting = [watch.waitForSync(), watch.waitForSync({ signal: stop.signal })];
    const rejected = Promise.allSettled(waiting);
    await watch.remove();
    const message = 'mine was removed from controller "test"';
    for (const outcome of await rejected) expect(outcome).toMatchObject({ status: 'rejected', reason: { message } });
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    await expect(watch.waitForSync()).rejects.toThrow('mine was removed');
  });

  it('while its start blocks ends the wait, and the source when its start returns', async () => {
    const t = createHarness();
    const start = Promise.withResolvers<{ stop: () => void }>();
    let stops = 0;
    const watch = t.controller.watch({ name: 'mine', start: () => start.promise });
    await t.start();
    await watch.remove();
    await settle();
    expect(t.controller.phase).toBe('active');
    start.resolve({ stop: () => void stops++ });
    await settle();
    expect(stops).toBe(1);
    t.stop.abort();
  });

  it('is not the one that was added later with the same source', async () => {
    const t = createHarness();
    const mine = manualSource('mine');
    await t.start();
    const first = t.controller.watch(mine.source);
    await first.remove();
    const second = t.controller.watch(mine.source);
    await settle();
    await first.remove();
    await first[Symbol.asyncDispose]();
    mine.synced[1]?.resolve(undefined);
    await second.waitForSync();
    expect([first.hasSynced, second.hasSynced, mine.stops()]).toEqual([false, true, 1]);
    await expect(first.waitForSync()).rejects.toThrow('mine was removed from controller "test"');
    t.stop.abort();
  });

  it('can be added again at once, without awaiting the removal', async () => {
    const t = createHarness();
    const mine = manualSource('mine');
    await t.start();
    const first = t.controller.watch(mine.source);
    void first.remove();
    const second = t.controller.watch(mine.source);
    await settle();
    expect(t.controller.sources().map(({ name }) => name)).toEqual(['kind source: Pod', 'mine']);
    await second.remove();
    t.stop.abort();
  });
});

describe('an informer that the provider lends', () => {
  const lend = (informers: FakeInformers) => {
    let loans = 0;
    const lender = {
      informer: () => Promise.reject(new Error('informers are lent here')),
      acquire: () => {
        loans++;
        return {
          informer: informers.of(ReplicaSet) as never,
          [Symbol.asyncDispose]: () => {
            loans--;
            return Promise.resolve();
          },
        };
      },
    };
    return { lender, loans: () => loans };
  };

  it('is returned when the watch is removed, and when the controller ends', async () => {
    const t = createHarness();
    const { lender, loans } = lend(t.informers);
    t.informers.of(ReplicaSet).sync();
    const source = kindSource({ informers: lender, kind: ReplicaSet, handler: enqueueRequestForObject() });
    const watch = t.controller.watch(source);
    const { done } = await t.start();
    expect([loans(), t.controller.phase]).toEqual([1, 'active']);
    await watch.remove();
    expect(loans()).toBe(0);
    t.controller.watch(source);
    await settle();
    expect(loans()).toBe(1);
    t.stop.abort();
    await done;
    expect([loans(), t.informers.of(ReplicaSet).handlers.size]).toEqual([0, 0]);
  });

  it('is returned when the watch ends before the handler was added', async () => {
    const t = createHarness();
    const { lender, loans } = lend(t.informers);
    const source = kindSource({ informers: lender, kind: ReplicaSet, handler: enqueueRequestForObject() });
    t.controller.watch(source);
    t.pods.sync();
    const done = t.run();
    t.stop.abort();
    await done;
    await settle();
    expect(loans()).toBe(0);
  });
});

describe('the truth about sources', () => {
  it('is waited for as long as the signal of the wait is not aborted', async () => {
    const t = createHarness();
    const watch = t.controller.watch(
      kindSource({ informers: t.informers, kind: Node, handler: enqueueRequestForObject() }),
    );
    const impatient = new AbortController();
    const given = watch.waitForSync({ signal: impatient.signal });
    impatient.abort(new Error('no longer needed'));
    await expect(given).rejects.toThrow('no longer needed');
    let isSynced = false;
    const patient = watch.waitForSync().then(() => (isSynced = true));
    const done = t.run();
    await settle();
    expect(isSynced).toBe(false);
    t.pods.sync();
    t.informers.of(Node).sync();
    await patient;
    t.stop.abort();
    await done;
  });

  it('names kind, policy and phase of each, from the first moment', async () => {
    const t = createHarness();
    const missing = new FakeInformers();
    missing.failures = Array.from({ length: 20 }, () => new Error('no such kind'));
    const optional = kindSource({ informers: missing, kind: ReplicaSet, handler: enqueueRequestForObject() });
    t.controller.watch(optional, { startPolicy: 'optional' });
    const status = () =>
      t.controller.sources().map(({ kind, isRequired, phase }) => [kind?.kind, isRequired, phase].join(' '));
    expect(status()).toEqual(['Pod true cold', 'ReplicaSet false cold']);
    const done = t.run();
    await settle();
    expect(status()).toEqual(['Pod true starting', 'ReplicaSet false starting']);
    t.pods.sync();
    await settle();
    expect(status()).toEqual(['Pod true synced', 'ReplicaSet false starting']);
    await t.clock.advance(130_000);
    expect(status()).toEqual(['Pod true synced', 'ReplicaSet false failed']);
    expect(t.controller.sources()[1]?.error).toMatchObject({ code: 'KCTL_SOURCE' });
    const late = t.controller.watch(
      kindSource({ informers: t.informers, kind: Node, handler: enqueueRequestForObject() }),
    );
    expect(status()[2]).toBe('Node false starting');
    await late.remove();
    expect(status().length).toBe(2);
    t.stop.abort();
    await done;
    expect(status()).toEqual(['Pod true cold', 'ReplicaSet false cold']);
  });
});

describe('a channel source', () => {
  it('whose iterable failed is read anew at the next run', async () => {
    const attempts: string[][] = [['a'], ['b']];
    const events: AsyncIterable<string> = {
      async *[Symbol.asyncIterator]() {
        yield* attempts.shift() ?? [];
        throw new Error('stream broke');
      },
    };
    const t = createHarness();
    t.controller.watch(channelSource({ name: 'outside', events, handler: toSelf }));
    await expect((await t.start()).done).rejects.toThrow('stream broke');
    await expect(t.controller.run(new AbortController().signal)).rejects.toThrow('stream broke');
    expect(attempts).toEqual([]);
  });

  it('that cannot be read anew says so instead of starting dead', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield 'a';
      throw new Error('stream broke');
    }
    const t = createHarness();
    t.controller.watch(channelSource({ name: 'outside', events: broken(), handler: toSelf }));
    await expect((await t.start()).done).rejects.toThrow('stream broke');
    const error: unknown = await t.controller.run(new AbortController().signal).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringContaining('failed to start source channel source: outside: the iterable failed'),
      cause: { cause: new Error('stream broke') },
    });
  });

  it('that ends between two runs ends quietly', async () => {
    const events = createEventChannel<string>();
    const t = createHarness();
    t.controller.watch(channelSource({ name: 'outside', events, handler: toSelf }));
    const { done } = await t.start();
    t.stop.abort();
    await done;
    events.close();
    await settle();
    const again = new AbortController();
    const second = t.controller.run(again.signal);
    await settle();
    expect(t.controller.phase).toBe('active');
    again.abort();
    await second;
  });
});

describe('a source whose own work hangs', () => {
  it.each<[string, Source<{ name: string }>]>([
    [
      'a poll',
      pollingSource<string, { name: string }>({
        name: 'x',
        everyMs: 1000,
        identify: String,
        poll: never,
        handler: toSelf,
        waitForFirst: false,
      }),
    ],
    ['a cron occurrence', cronSource({ name: 'x', schedule: '* * * * *', requests: never })],
  ])('in %s does not keep the controller from ending', async (_what, source) => {
    const t = createHarness();
    t.controller.watch(source);
    const { done } = await t.start();
    await t.clock.advance(61_000);
    t.stop.abort();
    await done;
    expect([t.controller.phase, t.clock.pendingTimers]).toEqual(['cold', 0]);
  });

  it('is logged when its stop fails, and the others end', async () => {
    const t = createHarness();
    t.controller.watch(
      funcSource('mine', () => () => {
        throw new Error('cannot close');
      }),
    );
    const { done } = await t.start();
    t.stop.abort();
    await done;
    expect(t.pods.handlers.size).toBe(0);
    const line = t.logger.lines.find(({ message }) => message === 'a source did not stop cleanly');
    expect(line?.fields).toMatchObject({ source: 'func source: mine', error: new Error('cannot close') });
  });
});

describe('a queue', () => {
  it('is logged when its shutdown fails, and the run ends cold all the same', async () => {
    const t = createHarness(undefined, {
      newQueue: ({ clock }) =>
        Object.assign(createPriorityQueue<ReconcileRequest>({ clock }), {
          shutDown: () => {
            throw new Error('cannot shut down');
          },
        }),
    });
    const { done } = await t.start();
    t.stop.abort();
    await done;
    expect([t.controller.phase, t.pods.handlers.size]).toEqual(['cold', 0]);
    await t.controller.waitUntilCold();
    const line = t.logger.lines.find(({ message }) => message === 'the queue did not shut down cleanly');
    expect(line?.fields).toMatchObject({ error: new Error('cannot shut down') });
  });
});

describe('reconcileAllOn', () => {
  it('has every source hand over what exists, once more and at low priority', async () => {
    const t = stored();
    t.pods.sync();
    for (const name of ['a', 'b']) t.pods.add(pod(name));
    const things = pollingSource<string, { name: string }>({
      name: 'things',
      everyMs: 1000,
      identify: String,
      poll: async () => ['thing'],
      handler: toSelf,
    });
    t.controller.watch(things);
    const channel = createEventChannel<string>();
    t.controller.reconcileAllOn(channelSource({ name: 'config', events: channel, handler: toSelf }));
    await t.start();
    expect(names(t.runs.splice(0)).toSorted()).toEqual(['a', 'b', 'thing']);
    channel.send('changed');
    channel.send('changed again');
    await settle();
    const again = t.runs.splice(0);
    expect([...new Set(names(again))].toSorted()).toEqual(['a', 'b', 'thing']);
    expect(again.every(({ priority }) => priority === -100)).toBe(true);
    expect(t.pods.handlers.size).toBe(1);
    t.pods.delete(pod('a'));
    await settle();
    t.runs.splice(0);
    channel.send('changed');
    await settle();
    expect(names(t.runs).toSorted()).toEqual(['b', 'thing']);
    t.stop.abort();
    await t.controller.waitUntilCold();
    expect(t.pods.handlers.size).toBe(0);
  });

  it('reaches what a source handed over that has not synced, once that has synced', async () => {
    const t = createHarness();
    const synced = Promise.withResolvers<undefined>();
    const early: Source<ReconcileRequest> = {
      name: 'early',
      start: async ({ queue }) => {
        queue.add({ name: 'early' });
        return {
          waitForSync: () => synced.promise,
          replay: () => queue.add({ name: 'early' }),
          stop: () => undefined,
        };
      },
    };
    t.controller.watch(early, { startPolicy: 'optional' });
    const channel = createEventChannel<string>();
    t.controller.reconcileAllOn(channelSource({ name: 'config', events: channel, handler: toSelf }));
    await t.start();
    expect(names(t.runs)).toEqual(['early']);
    channel.send('changed');
    channel.send('changed again');
    await settle();
    expect(names(t.runs)).toEqual(['early']);
    synced.resolve(undefined);
    await settle();
    expect(names(t.runs)).toEqual(['early', 'early']);
    t.stop.abort();
  });

  it('leaves no handler behind when the controller stops meanwhile', async () => {
    for (let turns = 0; turns < 20; turns++) {
      const t = stored();
      t.pods.sync();
      t.pods.add(pod('a'));
      const channel = createEventChannel<string>();
      t.controller.reconcileAllOn(channelSource({ name: 'config', events: channel, handler: toSelf }));
      const { done } = await t.start();
      channel.send('changed');
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      t.stop.abort();
      await done;
      expect(t.pods.handlers.size).toBe(0);
    }
  });

  it('takes a source that can be replayed, and has the others replayed once for each of its events', async () => {
    const t = stored();
    t.pods.sync();
    t.pods.add(pod('a'));
    const settings = t.informers.of(Node).sync();
    const before = { metadata: { name: 'settings', resourceVersion: '1' } };
    settings.add(before);
    let events = 0;
    t.controller.reconcileAllOn(
      kindSource<typeof Node, { name: string }>({
        informers: t.informers,
        kind: Node,
        handler: (_event, queue) => {
          if (++events > 20) t.stop.abort(); // one that calls for its own replay would never end
          queue.add({ name: 'settings' });
          return undefined;
        },
      }),
    );
    const { done } = await t.start();
    expect([t.controller.phase, events]).toEqual(['active', 1]);
    t.runs.length = 0;
    settings.update(before, { metadata: { name: 'settings', resourceVersion: '2' } });
    await settle();
    expect([events, names(t.runs)]).toEqual([2, ['a']]);
    t.stop.abort();
    await done;
    expect([t.pods.handlers.size, settings.handlers.size]).toEqual([0, 0]);
  });

  it('refuses what is not a source, and the same one twice', () => {
    const { controller } = createHarness();
    expect(() => controller.reconcileAllOn(undefined as never)).toThrow('watch: the source is not valid');
    const source = funcSource('x', () => undefined);
    controller.reconcileAllOn(source);
    expect(() => controller.reconcileAllOn(source)).toThrow('watches func source: x already');
  });
});

describe('adopt', () => {
  const reconciler = async (): Promise<undefined> => undefined;

  it('fills in what the options leave open, and nothing else', () => {
    const controller = createController({
      name: 'x',
      reconciler,
      cacheSyncTimeoutMs: 5,
      recoverPanic: undefined as never,
    });
    const logger = createRecordingLogger();
    controller.adopt({
      settings: { maxConcurrentReconciles: 7, cacheSyncTimeoutMs: 9, recoverPanic: false, enableWarmup: true },
      logger,
    });
    expect(controller.settings).toMatchObject({ cacheSyncTimeoutMs: 5, recoverPanic: false, enableWarmup: true });
    expect([controller.maxConcurrentReconciles, typeof controller.warmup]).toEqual([7, 'function']);
    controller.logger.info('hello');
    expect(logger.lines.map(({ fields }) => fields)).toEqual([{ controller: 'x' }]);
    controller.maxConcurrentReconciles = 2;
    controller.adopt({ settings: { maxConcurrentReconciles: 7 } });
    expect([controller.maxConcurrentReconciles, controller.warmup]).toEqual([2, undefined]);
    expect(() => controller.adopt({ settings: { maxConcurrentReconciles: -1 } })).toThrow('maxConcurrentReconciles -1');
  });

  it('changes nothing while the controller is not cold', async () => {
    const gate = Promise.withResolvers<undefined>();
    const t = createHarness(() => gate.promise, { enableWarmup: true });
    const adopt = (): unknown[] => {
      t.controller.adopt({ settings: { maxConcurrentReconciles: 7 } });
      return [t.controller.phase, t.controller.maxConcurrentReconciles];
    };
    const life = new AbortController();
    t.pods.sync();
    await t.controller.warmup?.(life.signal);
    expect(adopt()).toEqual(['warm', 1]);
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(adopt()).toEqual(['active', 1]);
    life.abort();
    t.stop.abort();
    await settle();
    expect(adopt()).toEqual(['draining', 1]);
    gate.resolve(undefined);
    await done;
    expect(adopt()).toEqual(['cold', 7]);
  });
});

describe('what is not valid', () => {
  it.each<[string, () => unknown, string]>([
    ['a source without a handler', () => kindSource({ informers: new FakeInformers(), kind: Pod } as never), 'handler'],
    [
      'informers that are none',
      () => kindSource({ informers: {}, kind: Pod, handler: () => undefined } as never),
      'informers',
    ],
    [
      'a kind that is none',
      () => kindSource({ informers: new FakeInformers(), kind: undefined } as never),
      'kind is not valid',
    ],
    ['a channel without iterable', () => channelSource({ name: 'x', handler: toSelf } as never), 'events is not valid'],
    [
      'a poll that is none',
      () => pollingSource({ name: 'x', everyMs: 1, handler: toSelf } as never),
      'poll is not valid',
    ],
    ['requests that are none', () => cronSource({ name: 'x', schedule: '@daily' } as never), 'requests is not valid'],
    ['a start that is none', () => funcSource('x', undefined as never), 'start is not valid'],
    [
      'a start policy that is none',
      () =>
        createHarness().controller.watch(
          funcSource('x', () => undefined),
          { startPolicy: 'optinal' } as never,
        ),
      'startPolicy "optinal" is not valid',
    ],
    ['no options', () => createController(undefined as never), 'expected options: { name, reconciler }'],
    [
      'no name',
      () => createController({ reconciler: async () => undefined } as never),
      'must specify Name for Controller',
    ],
    [
      'a name of another type',
      () => createController({ name: 7, reconciler: async () => undefined } as never),
      'name 7 is not valid',
    ],
  ])('is named at once: %s', (_what, make, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(TypeError);
  });

  it('is named when a source starts as something else', async () => {
    const t = createHarness();
    t.controller.watch({ name: 'mine', start: () => Promise.resolve(undefined as never) });
    await expect((await t.start()).done).rejects.toThrow(
      'failed to start source mine: its start() does not return a started source',
    );
  });
});
