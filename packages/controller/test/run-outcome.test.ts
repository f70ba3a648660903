// What a run of the reconciler leaves behind: measures, a span, a line of the log, what an observer sees, the next run.
import type { Family, Histogram, Span } from '@kctl/telemetry';
import { sleep } from '@kctl/wait';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileContext, RetryDecision, SettledRun } from '../src/index.js';
import {
  createController,
  createWebhookReceiver,
  enqueueRequestForObject,
  informerSource,
  terminalError,
} from '../src/index.js';
import { jsonKey, rememberingKey } from '../src/queue/reconcile-queue.js';
import { keyFor } from '../src/reconciler/key-for.js';
import { FakeInformer, Node, Pod, pod } from './fakes.js';
import { createHarness } from './harness.js';
import { RecordingMetrics } from './recording-metrics.js';

const down = new Error('down');

/** Keeps what histograms observe. */
class ObservingMetrics extends RecordingMetrics {
  readonly observed: [string, number][] = [];

  override histogram({ name }: { name: string }): Family<Histogram> {
    return { with: () => ({ observe: (value) => void this.observed.push([name, value]) }), remove: () => undefined };
  }
}

async function runOnce(reconcile: (context: ReconcileContext) => Promise<unknown>, ms: number) {
  const metrics = new ObservingMetrics();
  const settled: SettledRun[] = [];
  const attributes: object = {};
  const span: Span = {
    setAttributes: (more) => void Object.assign(attributes, more),
    recordError: (error) => void Object.assign(attributes, { error }),
    end: () => undefined,
  };
  const t = createHarness(
    async (_request, context) => {
      await sleep(ms, { clock: t.clock });
      return await reconcile(context);
    },
    {
      metrics,
      requestCounter: { run: (_tally, work, ...given) => work(...given) },
      observer: {
        queued: () => undefined,
        started: () => ({ requests: 3 }),
        settled: (_tally, run) => void settled.push(run),
      },
      tracer: { withSpan: (_name, _attributes, work) => work(span) },
    },
  );
  await t.start();
  await t.clock.advance(1_000);
  t.pods.add(pod('a'));
  await t.clock.advance(ms);
  const read = (name: string, labels: object = {}): number | undefined =>
    metrics.read(name, { controller: 'test', ...labels });
  const seen = {
    settled: settled[0],
    attributes,
    observed: metrics.observed.filter(([name]) => !name.startsWith('workqueue')),
    lines: [...t.logger.lines],
    read,
  };
  t.stop.abort();
  return seen;
}

describe('the outcome of a run', () => {
  const results = ['success', 'error', 'requeue', 'requeue_after'];
  it.each<[string, () => Promise<unknown>, string, Partial<SettledRun>, object]>([
    ['that succeeds', async () => undefined, 'success', { result: 'success', nextMs: undefined }, {}],
    [
      'that has a time',
      async () => ({ requeueAfterMs: 7 }),
      'requeue_after',
      { result: 'requeue_after', nextMs: 7 },
      { result: 'requeue_after' },
    ],
    [
      'that backs off',
      async () => ({ backoff: true }),
      'requeue',
      { result: 'requeue', nextMs: 5 },
      { result: 'requeue' },
    ],
    ['that fails', () => Promise.reject(down), 'error', { result: 'error', error: down, nextMs: 5 }, { error: down }],
    [
      'that is given up',
      () => Promise.reject(terminalError(down)),
      'error',
      { result: 'terminal', nextMs: undefined },
      {},
    ],
  ])('%s is measured, traced and observed', async (...[, reconcile, result, settled, attributes]) => {
    const seen = await runOnce(reconcile, 250);
    const totals = results.map((each) => seen.read('controller_runtime_reconcile_total', { result: each }));
    expect(totals).toEqual(results.map((each) => (each === result ? 1 : 0)));
    expect(seen.settled).toMatchObject({ isLooping: false, ...settled });
    expect(seen.attributes).toMatchObject({
      attempt: 1,
      reasons: 'kind source: Pod create default/a',
      requests: 3,
      ...attributes,
    });
    expect(seen.observed).toEqual([
      ['kctl_controller_reconcile_requests', 3],
      ['controller_runtime_reconcile_time_seconds', 0.25],
    ]);
    expect(seen.read('controller_runtime_active_workers')).toBe(0);
    const errors = result === 'error' ? 1 : 0;
    expect(seen.read('controller_runtime_reconcile_errors_total')).toBe(errors);
    expect(seen.lines.filter(({ message }) => message === 'Reconciler error')).toHaveLength(errors);
  });

  it.each<[string, (signal: AbortSignal) => Error, boolean]>([
    ['fails for another reason', () => down, true],
    ['rejects with the reason of its signal', (signal) => signal.reason as Error, false],
    ['rejects with an error that wraps it', (signal) => new Error('outer', { cause: signal.reason }), false],
    ['rejects with another abort', () => new DOMException('aborted', 'AbortError'), false],
  ])('is a failure if a run that is stopped %s: %#', async (_how, error, fails) => {
    const t = createHarness(
      (_request, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(error(signal)))),
    );
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await settle();
    t.stop.abort(new Error('the controller is stopped'));
    await done;
    expect([t.total('error'), t.logger.lines.some(({ message }) => message === 'Reconciler error')]).toEqual([
      fails ? 1 : 0,
      fails,
    ]);
  });

  it('that ends the controller is logged as a panic', async () => {
    const broken = new TypeError('x is undefined');
    const t = createHarness(() => Promise.reject(broken), { recoverPanic: false });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await expect(done).rejects.toBe(broken);
    expect(t.logger.lines.filter(({ message }) => message === 'Observed a panic')).toMatchObject([
      { fields: { error: broken } },
    ]);
    expect(t.count('controller_runtime_reconcile_panics_total')).toBe(1);
  });
});

it.each([true, false])(
  'leaves no timer behind after a tracer that calls it later, and settles: %s',
  async (settles) => {
    const attributes: object[] = [];
    const span: Span = {
      setAttributes: (given) => void attributes.push(given),
      recordError: () => undefined,
      end: () => undefined,
    };
    const t = createHarness(undefined, {
      tracer: {
        withSpan: async (_name, _attributes, work) => {
          await Promise.resolve();
          const result = await work(span);
          if (!settles) await new Promise(() => undefined);
          return result;
        },
      },
    });
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect([t.runs.length, t.clock.pendingTimers]).toEqual([1, 0]);
    expect([attributes.length > 0, t.logger.lines.filter(({ level }) => level === 'error')]).toEqual([true, []]);
    t.stop.abort();
  },
);

it('is done by a reconciler that is an object, whose methods use its state', async () => {
  class Broken {
    readonly seen: unknown[] = [];
    async reconcile(): Promise<never> {
      this.seen.push('reconcile');
      throw down;
    }
    async onError({ error }: { readonly error: unknown }): Promise<RetryDecision> {
      this.seen.push(error);
      return { type: 'stop' };
    }
  }
  const reconciler = new Broken();
  const informer = new FakeInformer().sync();
  const controller = createController({ name: 'x', reconciler });
  controller.watch(informerSource({ informer, handler: enqueueRequestForObject() }));
  const stop = new AbortController();
  const done = controller.run(stop.signal);
  await settle();
  informer.add(pod('a'));
  await settle();
  stop.abort();
  await done;
  expect(reconciler.seen).toEqual(['reconcile', down]);
});

it('gives a retry policy the time since the first failure, and logs when the next run is, if there is one', async () => {
  const elapsed: number[] = [];
  const t = createHarness(() => Promise.reject(down), {
    retryPolicy: {
      decide: ({ elapsedMs }) => (elapsed.push(elapsedMs) < 3 ? { type: 'retry', afterMs: 40 } : { type: 'stop' }),
    },
  });
  await t.start();
  await t.clock.advance(1_000);
  t.pods.add(pod('a'));
  await t.clock.advance(100);
  const errors = t.logger.lines.filter(({ message }) => message === 'Reconciler error');
  expect([elapsed, errors.map(({ fields }) => fields['retryInMs'])]).toEqual([
    [0, 40, 80],
    [40, 40, undefined],
  ]);
  expect(errors[2]?.fields).not.toHaveProperty('retryInMs');
  t.stop.abort();
});

it('counts no timeout if a run whose time is over fails for another reason', async () => {
  const t = createHarness(
    (_request, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(down))),
    { reconciliationTimeoutMs: 1_000 },
  );
  await t.start();
  t.pods.add(pod('a'));
  await t.clock.advance(1_000);
  expect([t.total('error'), t.count('controller_runtime_reconcile_timeouts_total')]).toEqual([1, 0]);
  t.stop.abort();
});

describe('the key of a request', () => {
  it.each([5, undefined, null, {}])('cannot be %o', (key) => {
    expect(() => rememberingKey(() => key as never)('a')).toThrow('requestKey returned something of type');
  });

  it('is that of undefined, too', () => {
    expect(rememberingKey(() => 'none')(undefined)).toBe('none');
  });

  it('needs the namespace of a namespaced kind alone', () => {
    expect(keyFor(Node, { name: 'a' })).toEqual({ name: 'a' });
    for (const key of [{ name: 'a' }, { name: 'a', namespace: '' }])
      expect(() => keyFor(Pod, key)).toThrow('Pod a needs a namespace');
  });

  it('is the JSON of what has no name, null and lists in it too', () => {
    expect(jsonKey({ b: null, a: [2, 1] })).toBe('{"a":[2,1],"b":null}');
  });
});

describe('a method of a controller', () => {
  const controller = () => createController({ name: 't', reconciler: async () => undefined });
  const source = { name: 's', start: async () => ({ stop: () => undefined }) };

  it.each<[string, (options: never) => unknown]>([
    ['run', (options) => controller().run(new AbortController().signal, options)],
    ['enqueue', (options) => controller().enqueue({ name: 'a' }, options)],
    ['adopt', (options) => controller().adopt(options)],
    ['watch', (options) => controller().watch(source, options)],
    ['reconcileAllOn', (options) => controller().reconcileAllOn(source, options)],
  ])('%s refuses options that it does not know', async (name, call) => {
    await expect(async () => call({ surprise: 1 } as never)).rejects.toThrow(`controller "t": ${name}`);
  });
});

it('needs no limit for the bodies of a webhook', () => {
  expect(() => createWebhookReceiver({ path: '/x', read: () => [], maxBytes: Infinity })).not.toThrow();
});
