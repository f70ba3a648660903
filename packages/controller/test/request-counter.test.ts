import { AsyncLocalStorage } from 'node:async_hooks';
import { noopMetrics, type Metrics, type RequestTally, type SpanAttributes, type Tracer } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';
import { RecordingMetrics } from './recording-metrics.js';

/** Histograms whose observations can be read back. */
function observing(): { readonly metrics: Metrics; readonly seen: (name: string) => number[] } {
  const recording = new RecordingMetrics();
  const seen = new Map<string, number[]>();
  const metrics: Metrics = {
    counter: (options) => recording.counter(options),
    gauge: (options) => recording.gauge(options),
    histogram: ({ name }) => ({
      with: () => ({ observe: (value) => seen.set(name, [...(seen.get(name) ?? []), value]) }),
      remove: () => undefined,
    }),
    onCollect: () => () => undefined,
  };
  return { metrics, seen: (name) => seen.get(name) ?? [] };
}

const metric = 'kctl_controller_reconcile_requests';

it('gives each run the requests that it sends, also later, also of its error hook, and no other', async () => {
  const tallies = new AsyncLocalStorage<RequestTally>();
  const request = (): void => {
    const tally = tallies.getStore();
    if (tally !== undefined) tally.requests++;
  };
  const { metrics, seen } = observing();
  const counts: Record<string, number> = { none: 0, one: 1, three: 3 };
  const gate = Promise.withResolvers<undefined>();
  const t = createHarness(
    async ({ name }) => {
      for (let sent = 0; sent < (counts[name] ?? 0); sent++) {
        await gate.promise; // all of them run at the same time
        request();
      }
      if (name === 'failing') throw new Error('no');
    },
    {
      metrics,
      requestCounter: tallies,
      maxConcurrentReconciles: 10,
      onError: async () => {
        await Promise.resolve();
        request();
      },
    },
  );
  await t.start();
  for (const name of ['none', 'one', 'three', 'failing']) t.pods.add(pod(name));
  await settle();
  request(); // of no run
  gate.resolve(undefined);
  await settle();
  expect(seen(metric).toSorted()).toEqual([0, 1, 1, 3]);
  t.stop.abort();
});

it('adds the requests to the span', async () => {
  const tallies = new AsyncLocalStorage<RequestTally>();
  let attributes: SpanAttributes = {};
  const tracer: Tracer = {
    withSpan: (_name, _attributes, work) =>
      work({
        setAttributes: (more) => (attributes = { ...attributes, ...more }),
        recordError: () => undefined,
        end: () => undefined,
      }),
  };
  const t = createHarness(async () => void tallies.getStore()!.requests++, { tracer, requestCounter: tallies });
  await t.start();
  t.pods.add(pod('a'));
  await settle();
  expect(attributes).toMatchObject({ requests: 1, attempt: 1 });
  t.stop.abort();
});

it.each([
  ['nothing is measured or traced', noopMetrics, 0],
  ['it is measured', new RecordingMetrics(), 3],
])('is called once for each run where %s', async (_when, metrics, expected) => {
  let calls = 0;
  const requestCounter = {
    run: <A extends readonly unknown[], T>(_tally: RequestTally, work: (...given: A) => T, ...given: A): T => {
      calls++;
      return work(...given);
    },
  };
  const t = createHarness(async () => undefined, { metrics, requestCounter });
  await t.start();
  for (const name of ['a', 'b', 'c']) t.pods.add(pod(name));
  await settle();
  expect(t.runs).toHaveLength(3);
  expect(calls).toBe(expected);
  t.stop.abort();
});

it('leaves the error of a reconciler that throws at once', async () => {
  const thrown = new Error('at once');
  const throwing = (): never => {
    throw thrown;
  };
  const { metrics } = observing();
  const t = createHarness(throwing, { metrics, requestCounter: new AsyncLocalStorage<RequestTally>() });
  await t.start();
  t.pods.add(pod('a'));
  await settle();
  expect(t.logger.lines.filter(({ message }) => message === 'Reconciler error')).toMatchObject([
    { fields: { error: { cause: thrown } } },
  ]);
  t.stop.abort();
});

it('names what is not a request counter', () => {
  const given = { requestCounter: {} } as never;
  expect(() => createHarness(undefined, given)).toThrow(
    'requestCounter has no method run: expected a RequestCounter, which has run(tally, work), such as an AsyncLocalStorage',
  );
});
