// What a run of the reconciler leaves behind: measures, a span, a line of the log, what an observer sees, the next run.
import type { Family, Histogram, Span } from '@kctl/telemetry';
import { sleep } from '@kctl/wait';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileContext, SettledRun } from '../src/index.js';
import { createController, createWebhookReceiver, terminalError } from '../src/index.js';
import { jsonKey, rememberingKey } from '../src/queue/reconcile-queue.js';
import { pod } from './fakes.js';
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

it('leaves no timer behind after a tracer that calls it later', async () => {
  const span: Span = { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined };
  const t = createHarness(undefined, {
    tracer: {
      withSpan: async (_name, _attributes, work) => {
        await Promise.resolve();
        return await work(span);
      },
    },
  });
  await t.start();
  t.pods.add(pod('a'));
  await settle();
  expect([t.runs.length, t.clock.pendingTimers]).toEqual([1, 0]);
  t.stop.abort();
});

describe('the key of a request', () => {
  it.each([5, undefined, null, {}])('cannot be %o', (key) => {
    expect(() => rememberingKey(() => key as never)('a')).toThrow('requestKey returned something of type');
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
