import type { Labels, MetricOptions, Metrics } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createDelayingQueue, createPriorityQueue, createWorkQueue } from '../src/index.js';

function fail(): never {
  throw new Error('the sink is broken');
}

/** Metrics that a test can read, as `name{label values} → value`. */
function recordingMetrics(): { metrics: Metrics; collect: () => Record<string, number>; hooks: Set<() => void> } {
  const values: Record<string, number> = {};
  const hooks = new Set<() => void>();
  const declare = (options: MetricOptions): { with: (labels: Labels) => never; remove: () => void } => ({
    with: (labels) => {
      expect(Object.keys(labels)).toEqual(options.labelNames);
      const series = `${options.name}{${Object.values(labels).join(',')}}`;
      values[series] ??= 0;
      const add = (by: number): void => {
        values[series] = (values[series] ?? 0) + by;
      };
      const child = {
        inc: (by = 1) => add(by),
        dec: (by = 1) => add(-by),
        set: (value: number) => {
          values[series] = value;
        },
        observe: add,
      };
      return child as never;
    },
    remove: () => undefined,
  });
  const metrics: Metrics = {
    counter: declare,
    gauge: declare,
    histogram: declare,
    onCollect: (hook) => {
      hooks.add(hook);
      return () => void hooks.delete(hook);
    },
  };
  const collect = (): Record<string, number> => {
    for (const hook of hooks) hook();
    return { ...values };
  };
  return { metrics, collect, hooks };
}

describe('metrics of a queue', () => {
  it.each([
    ['when they are declared', (): never => fail()],
    [
      'when they are written',
      () => ({ with: () => ({ inc: fail, dec: fail, set: fail, observe: fail }), remove: fail }),
    ],
    ['at a label', () => ({ with: fail, remove: fail })],
  ])('that fail %s cost no key', async (_, declare) => {
    const metrics = {
      counter: declare,
      gauge: declare,
      histogram: declare,
      onCollect: () => fail,
    } as unknown as Metrics;
    const clock = new FakeClock();
    const queue = createPriorityQueue({ name: 'broken', metrics, clock });
    const plain = createWorkQueue({ name: 'broken', metrics, clock });
    queue.addWith({ priority: 1 }, 'a');
    plain.add('a');
    for (const each of [queue, plain]) {
      const item = await each.get();
      each.add('a');
      each.done('a');
      expect([item, await each.get()]).toEqual(['a', 'a']);
      each.done('a');
      each.shutDown();
      expect(await each.get()).toBeUndefined();
    }
  });

  it('have the names and labels of client-go and controller-runtime', () => {
    const { metrics, collect } = recordingMetrics();
    createWorkQueue({ name: 'pods', metrics, controller: 'pod' });
    expect(Object.keys(collect()).sort()).toEqual([
      'workqueue_adds_total{pods,pod}',
      'workqueue_depth{pods,pod,}',
      'workqueue_longest_running_processor_seconds{pods,pod}',
      'workqueue_queue_duration_seconds{pods,pod}',
      'workqueue_retries_total{pods,pod}',
      'workqueue_unfinished_work_seconds{pods,pod}',
      'workqueue_work_duration_seconds{pods,pod}',
    ]);
  });

  it('follow an item from its first add to done', () => {
    const clock = new FakeClock();
    const { metrics, collect } = recordingMetrics();
    const queue = createWorkQueue({ name: 'q', metrics, clock });
    queue.add('a');
    clock.advanceSync(50);
    queue.add('a');
    clock.advanceSync(50);
    expect(collect()).toMatchObject({ 'workqueue_adds_total{q,q}': 1, 'workqueue_depth{q,q,}': 1 });
    queue.tryGet();
    expect(collect()).toMatchObject({ 'workqueue_depth{q,q,}': 0, 'workqueue_queue_duration_seconds{q,q}': 0.1 });
    clock.advanceSync(25);
    expect(collect()).toMatchObject({
      'workqueue_unfinished_work_seconds{q,q}': 0.025,
      'workqueue_longest_running_processor_seconds{q,q}': 0.025,
    });
    // An add during the work counts at once, as in client-go, although it waits for done.
    queue.add('a');
    expect(collect()).toMatchObject({ 'workqueue_adds_total{q,q}': 2, 'workqueue_depth{q,q,}': 1 });
    queue.done('a');
    expect(collect()).toMatchObject({
      'workqueue_work_duration_seconds{q,q}': 0.025,
      'workqueue_unfinished_work_seconds{q,q}': 0,
      'workqueue_longest_running_processor_seconds{q,q}': 0,
    });
  });

  it.each([
    ['work queue', createWorkQueue],
    ['priority queue', createPriorityQueue],
  ])('take back of the depth of a %s what is taken back, and nothing for work in progress', (_name, create) => {
    const { metrics, collect } = recordingMetrics();
    const queue = create({ name: 'q', metrics, clock: new FakeClock() });
    const depth = (): number =>
      Object.entries(collect())
        .filter(([series]) => series.startsWith('workqueue_depth{'))
        .reduce((sum, [, value]) => sum + value, 0);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect(queue.tryGet()).toBe('a');
    expect([depth(), queue.delete('b'), depth()]).toEqual([2, true, 1]);
    queue.add('a');
    expect([depth(), queue.delete('a'), depth()]).toEqual([2, true, 1]);
    expect([queue.delete('a'), depth()]).toEqual([false, 1]);
  });

  it.each([
    ['delaying queue', createDelayingQueue],
    ['priority queue', createPriorityQueue],
  ])('leave the depth of a %s at 0 when it has nothing to hand out or to drop', (_name, create) => {
    const { metrics, collect } = recordingMetrics();
    const bound = { maxPending: 1, overflow: 'dropOldest' } as const;
    const queue = create({ name: 'q', metrics, bound, clock: new FakeClock() });
    queue.addAfter('delayed', 10);
    expect(queue.tryGet()).toBe(undefined);
    queue.add('refused');
    expect(queue.tryGet()).toBe(undefined);
    const depths = Object.entries(collect()).filter(([series]) => series.startsWith('workqueue_depth{'));
    expect(depths.every(([, depth]) => depth === 0)).toBe(true);
  });

  it.each([
    ['delaying queue', createDelayingQueue],
    ['priority queue', createPriorityQueue],
  ])('take nothing off the depth of a %s when a delayed key is taken back', (_name, create) => {
    const { metrics, collect } = recordingMetrics();
    const queue = create({ name: 'q', metrics, clock: new FakeClock() });
    queue.add('ready');
    queue.addAfter('delayed', 10);
    expect(queue.delete('delayed')).toBe(true);
    const depths = Object.entries(collect()).filter(([series]) => series.startsWith('workqueue_depth{'));
    expect(depths.map(([, depth]) => depth)).toEqual([1]);
  });

  it('sum up unfinished work and name the longest', () => {
    const clock = new FakeClock();
    const { metrics, collect } = recordingMetrics();
    const queue = createWorkQueue({ name: 'q', metrics, clock });
    queue.add('a');
    queue.add('b');
    queue.tryGet();
    clock.advanceSync(1000);
    queue.tryGet();
    clock.advanceSync(500);
    expect(collect()).toMatchObject({
      'workqueue_unfinished_work_seconds{q,q}': 2,
      'workqueue_longest_running_processor_seconds{q,q}': 1.5,
    });
  });

  it('count each delayed add as a retry, also one without delay', () => {
    const { metrics, collect } = recordingMetrics();
    const queue = createDelayingQueue({ name: 'q', metrics, clock: new FakeClock() });
    queue.addAfter('a', 0);
    queue.addAfter('b', 10);
    expect(collect()).toMatchObject({ 'workqueue_retries_total{q,q}': 2, 'workqueue_adds_total{q,q}': 1 });
  });

  it('split the depth of a priority queue by priority, up to 25 of them', () => {
    const clock = new FakeClock();
    const { metrics, collect } = recordingMetrics();
    const queue = createPriorityQueue({ name: 'q', metrics, clock });
    queue.addWith({ priority: 1 }, 'a');
    queue.addWith({ priority: 1, afterMs: 10 }, 'later');
    expect(collect()).toMatchObject({ 'workqueue_depth{q,q,1}': 1, 'workqueue_adds_total{q,q}': 1 });
    queue.addWith({ priority: 2 }, 'a');
    clock.advanceSync(10);
    expect(collect()).toMatchObject({
      'workqueue_depth{q,q,1}': 1,
      'workqueue_depth{q,q,2}': 1,
      'workqueue_adds_total{q,q}': 2,
      'workqueue_retries_total{q,q}': 1,
    });
    for (let priority = 3; priority <= 30; priority++) queue.addWith({ priority }, `p${priority}`);
    const depths = Object.keys(collect()).filter((series) => series.startsWith('workqueue_depth'));
    expect(depths).toHaveLength(26);
    expect(collect()).toMatchObject({
      'workqueue_depth{q,q,25}': 1,
      'workqueue_depth{q,q,exceeded_cardinality_limit}': 5,
    });
    queue.shutDown();
    const total = Object.entries(collect())
      .filter(([series]) => series.startsWith('workqueue_depth'))
      .reduce((sum, [, value]) => sum + value, 0);
    expect(total).toBe(0);
  });

  it('leave the collection of the registry when the queue has ended', () => {
    const { metrics, hooks } = recordingMetrics();
    const queue = createWorkQueue({ name: 'q', metrics });
    for (const key of ['a', 'b', 'a']) queue.add(key);
    queue.tryGet();
    queue.done('a');
    queue.delete('b');
    expect(hooks.size).toBe(1);
    queue.add('a');
    queue.tryGet();
    queue.shutDown();
    expect(hooks.size).toBe(1);
    queue.done('a');
    expect(hooks.size).toBe(0);
  });

  it('have the bounds and help texts of controller-runtime', () => {
    const declared = new Map<string, { help: string; buckets?: readonly number[] }>();
    const { metrics } = recordingMetrics();
    const recording: Metrics = {
      ...metrics,
      counter: (options) => (declared.set(options.name, options), metrics.counter(options)),
      gauge: (options) => (declared.set(options.name, options), metrics.gauge(options)),
      histogram: (options) => (declared.set(options.name, options), metrics.histogram(options)),
    };
    createPriorityQueue({ name: 'q', metrics: recording, clock: new FakeClock() });
    const bounds = [1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10, 100, 1000];
    expect([...declared.values()].flatMap(({ buckets }) => (buckets === undefined ? [] : [buckets]))).toEqual([
      bounds,
      bounds,
    ]);
    // pkg/internal/metrics/workqueue.go of controller-runtime 0.25.
    expect(
      Object.fromEntries([...declared].map(([name, { help }]) => [name.slice('workqueue_'.length), help])),
    ).toEqual({
      depth: 'Current depth of workqueue by workqueue and priority',
      adds_total: 'Total number of adds handled by workqueue',
      queue_duration_seconds: 'How long in seconds an item stays in workqueue before being requested',
      work_duration_seconds: 'How long in seconds processing an item from workqueue takes.',
      unfinished_work_seconds:
        "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
      longest_running_processor_seconds:
        'How many seconds has the longest running processor for workqueue been running.',
      retries_total:
        'Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)',
    });
  });

  it('are not registered without a name', () => {
    const { metrics, collect } = recordingMetrics();
    createWorkQueue({ metrics });
    expect(collect()).toEqual({});
  });
});
