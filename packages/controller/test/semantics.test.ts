// What upstream's documentation and tests promise of the order of events, where no other test says it.
import type { HistogramOptions, Metrics } from '@kctl/telemetry';
import { noopLogger } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ObjectEvent } from '../src/index.js';
import { createController, enqueueRequestForObject, funcSource, kindSource } from '../src/index.js';
import { FakeInformers, Pod, pod, ReplicaSet } from './fakes.js';
import { createHarness } from './harness.js';
import { createRecordingLogger } from './recording-logger.js';
import { RecordingMetrics } from './recording-metrics.js';

describe('a controller that is warm', () => {
  it('starts a source that is added then at once, and reconciles its events only when it runs', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    t.pods.sync();
    await t.controller.warmup?.(t.stop.signal);
    let starts = 0;
    const watch = t.controller.watch(
      funcSource('late', ({ queue }) => {
        starts++;
        queue.add({ name: 'late' });
        return undefined;
      }),
    );
    await watch.waitForSync();
    expect([starts, t.runs, t.controller.phase]).toEqual([1, [], 'warm']);
    await t.start();
    expect([starts, t.runs.map(({ name }) => name)]).toEqual([1, ['late']]);
    t.stop.abort();
  });

  it('starts its sources once, however many wait for it', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    const warmUp = async (): Promise<void> => t.controller.warmup?.(t.stop.signal);
    const warm = [warmUp(), warmUp()];
    const done = t.run();
    await settle();
    expect([t.informers.calls, t.controller.phase]).toEqual([1, 'cold']);
    t.pods.sync();
    await Promise.all(warm);
    await settle();
    expect([t.informers.calls, t.controller.phase]).toEqual([1, 'active']);
    t.stop.abort();
    await done;
  });
});

describe('a controller that ends', () => {
  it('warms up again only when it has ended', async () => {
    const gate = Promise.withResolvers<undefined>();
    const t = createHarness(undefined, { enableWarmup: true });
    t.controller.watch({ name: 'slow', start: async () => ({ stop: () => gate.promise }) });
    const { done } = await t.start();
    t.stop.abort();
    await settle();
    const life = new AbortController();
    const warm = t.controller.warmup?.(life.signal);
    await settle();
    expect([t.informers.calls, t.controller.phase]).toEqual([1, 'draining']);
    gate.resolve(undefined);
    await done;
    await warm;
    expect([t.informers.calls, t.controller.phase]).toEqual([2, 'warm']);
    life.abort();
  });
});

describe('a source that has not synced', () => {
  it('is not replayed, as it is about to hand everything over', async () => {
    const synced = Promise.withResolvers<undefined>();
    const triggers: (() => void)[] = [];
    let replays = 0;
    const t = createHarness(undefined, { enableWarmup: true });
    t.controller.watch({
      name: 'slow',
      start: async () => ({
        waitForSync: () => synced.promise,
        replay: async () => void replays++,
        stop: () => undefined,
      }),
    });
    t.controller.reconcileAllOn(
      funcSource('trigger', ({ queue }) => void triggers.push(() => queue.add({ name: 'x' }))),
    );
    t.pods.sync();
    const done = t.run();
    await settle();
    triggers[0]?.();
    synced.resolve(undefined);
    await settle();
    expect([t.controller.phase, replays]).toEqual(['active', 0]);
    triggers[0]?.();
    await settle();
    expect(replays).toBe(1);
    t.stop.abort();
    await done;
  });

  it('starts once, although the start of another one adds it', async () => {
    const t = createHarness();
    let starts = 0;
    const added = funcSource('added', () => void starts++);
    t.controller.watch(funcSource('first', () => void t.controller.watch(added)));
    await t.start();
    expect([starts, t.controller.phase]).toEqual([1, 'active']);
    t.stop.abort();
  });
});

describe('a source that is optional', () => {
  it('holds nothing back while its kind is missing, and works from the time it is there', async () => {
    const t = createHarness();
    const missing = new FakeInformers();
    missing.failures = Array.from({ length: 20 }, () => new Error('no such kind'));
    const source = kindSource({ informers: missing, kind: ReplicaSet, handler: enqueueRequestForObject() });
    const watch = t.controller.watch(source, { startPolicy: 'optional' });
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect([t.controller.phase, watch.hasSynced, t.runs.map(({ name }) => name)]).toEqual(['active', false, ['a']]);
    await t.clock.advance(130_000); // beyond the time that is given to a source
    const failure = t.logger.lines.find(({ message }) => message === 'optional source failed');
    expect(failure?.fields).toMatchObject({ source: 'kind source: ReplicaSet.apps' });
    missing.of(ReplicaSet).sync();
    await t.clock.advance(100_000);
    missing.of(ReplicaSet).add(pod('set'));
    await settle();
    expect([watch.hasSynced, t.runs.map(({ name }) => name)]).toEqual([true, ['a', 'set']]);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('is only logged when it fails after its start, and so is one that is added while the controller runs', async () => {
    const t = createHarness();
    const fails: ((error: unknown) => void)[] = [];
    const source = (name: string) =>
      funcSource(name, ({ fail }) => {
        fails.push(fail);
        return undefined;
      });
    t.controller.watch(source('optional'), { startPolicy: 'optional' });
    const { done } = await t.start();
    t.controller.watch(source('late'));
    await settle();
    const error = new Error('stream broke');
    for (const fail of fails) fail(error);
    await settle();
    t.pods.add(pod('a'));
    await settle();
    expect([t.controller.phase, t.runs.map(({ name }) => name)]).toEqual(['active', ['a']]);
    const failures = t.logger.lines.filter(({ message }) => message === 'optional source failed');
    expect(failures.map(({ fields }) => [fields['source'], fields['error']])).toEqual([
      ['func source: optional', error],
      ['func source: late', error],
    ]);
    t.stop.abort();
    await done;
  });

  it('is required unless somebody says otherwise', async () => {
    const t = createHarness();
    const missing = new FakeInformers();
    t.controller.watch(kindSource({ informers: missing, kind: ReplicaSet, handler: enqueueRequestForObject() }));
    const { done } = await t.start();
    expect(t.controller.phase).toBe('cold');
    await t.clock.advance(120_000);
    await expect(done).rejects.toThrow('failed to wait for test caches to sync kind source: ReplicaSet.apps');
  });
});

describe('events of an informer', () => {
  it('become what they are: initial, replayed, changed, deleted, missed', async () => {
    const informers = new FakeInformers();
    const seen: string[] = [];
    const controller = createController({ name: 'x', reconciler: async () => undefined });
    const tell = (event: ObjectEvent): string => {
      switch (event.type) {
        case 'create':
          return `create${event.isInInitialList ? ' in the initial list' : ''}`;
        case 'update':
          return `update ${event.oldHeader?.resourceVersion ?? ''} to ${event.header?.resourceVersion ?? ''}`;
        case 'delete':
          return `delete${event.deleteStateUnknown ? ', final state unknown' : ''} of ${event.object.metadata.name ?? ''}`;
        case 'generic':
          return 'generic';
      }
    };
    controller.watch(
      kindSource({
        informers,
        kind: Pod,
        handler: (event) => {
          seen.push(tell(event));
          return undefined;
        },
      }),
    );
    const stop = new AbortController();
    const done = controller.run(stop.signal);
    await settle();
    const pods = informers.of(Pod);
    pods.add(pod('a'), true);
    pods.sync();
    pods.add(pod('b'));
    pods.update(pod('a'), pod('a'));
    pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    pods.delete(pod('a'));
    pods.delete(pod('b'), true);
    expect(seen).toEqual([
      'create in the initial list',
      'create',
      'update 1 to 1',
      'update 1 to 2',
      'delete of a',
      'delete, final state unknown of b',
    ]);
    stop.abort();
    await done;
  });

  it('of an object without a name are logged and ignored', () => {
    const logger = createRecordingLogger();
    const context = { signal: new AbortController().signal, logger };
    const added: unknown[] = [];
    const handler = enqueueRequestForObject();
    const queue = { add: (request: unknown) => void added.push(request) };
    expect(handler({ type: 'generic', object: { metadata: {} } }, queue, context)).toBeUndefined();
    expect(added).toEqual([]);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { event: 'generic' } }]);
  });
});

describe('result and metrics', () => {
  it('count each run once, by what it led to', async () => {
    const results = [
      () => undefined,
      () => ({ requeueAfterMs: 1 }),
      () => ({ backoff: true }),
      () => {
        throw new Error('x');
      },
      () => undefined,
    ];
    const t = createHarness(async () => results.shift()?.());
    await t.start();
    for (let version = 1; version <= 2; version++) {
      t.pods.add(pod('a', { resourceVersion: String(version) }));
      await t.clock.advance(1000);
    }
    const totals = ['success', 'requeue_after', 'requeue', 'error'].map((result) => t.total(result));
    expect([totals, t.count('controller_runtime_reconcile_errors_total'), t.runs.length]).toEqual([[2, 1, 1, 1], 1, 5]);
    expect(t.count('controller_runtime_active_workers')).toBe(0);
    t.stop.abort();
  });

  it('have the names, labels and buckets of upstream', () => {
    const declared: string[] = [];
    const recording = new RecordingMetrics();
    const metrics: Metrics = {
      counter: (options) => {
        declared.push(`counter ${options.name} {${(options.labelNames ?? []).join()}}`);
        return recording.counter(options);
      },
      gauge: (options) => {
        declared.push(`gauge ${options.name} {${(options.labelNames ?? []).join()}}`);
        return recording.gauge(options);
      },
      histogram: (options: HistogramOptions) => {
        const { buckets } = options;
        declared.push(
          `histogram ${options.name} {${(options.labelNames ?? []).join()}} ${buckets.length} buckets from ${buckets[0]} to ${buckets.at(-1)}`,
        );
        return recording.histogram(options);
      },
      onCollect: () => recording.onCollect(),
    };
    createController({ name: 'x', reconciler: async () => undefined, metrics, logger: noopLogger });
    expect(declared.toSorted()).toEqual([
      'counter controller_runtime_reconcile_errors_total {controller}',
      'counter controller_runtime_reconcile_panics_total {controller}',
      'counter controller_runtime_reconcile_timeouts_total {controller}',
      'counter controller_runtime_reconcile_total {controller,result}',
      'counter controller_runtime_terminal_reconcile_errors_total {controller}',
      'counter kctl_controller_hot_loops_total {controller}',
      'gauge controller_runtime_active_workers {controller}',
      'gauge controller_runtime_max_concurrent_reconciles {controller}',
      'histogram controller_runtime_reconcile_time_seconds {controller} 40 buckets from 0.005 to 60',
    ]);
  });

  it('have the log keys of upstream', async () => {
    const t = createHarness(async () => {
      throw new Error('broken');
    });
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    const fieldsOf = (message: string): unknown => t.logger.lines.find((line) => line.message === message)?.fields;
    expect(fieldsOf('Starting EventSource')).toEqual({ controller: 'test', source: 'kind source: Pod' });
    expect(fieldsOf('Starting workers')).toEqual({ controller: 'test', 'worker count': 1 });
    expect(fieldsOf('Reconciler error')).toMatchObject({
      controller: 'test',
      object: { namespace: 'default', name: 'a' },
      namespace: 'default',
      name: 'a',
      reconcileID: expect.any(String),
      error: new Error('broken'),
    });
    t.stop.abort();
  });
});
