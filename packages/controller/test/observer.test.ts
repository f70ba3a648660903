import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestTally } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import type { ReconcileObserver, SettledRun, SourceEnqueueOptions } from '../src/index.js';
import { createController, terminalError } from '../src/index.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';

interface Seen {
  readonly queued: (readonly [key: string, options: SourceEnqueueOptions])[];
  readonly started: (readonly [key: string, attempt: number])[];
  readonly settled: (readonly [tally: RequestTally, run: SettledRun])[];
  readonly ended: string[];
}

function recording(tallyOf: (key: string) => RequestTally = () => ({ requests: 0 })): {
  readonly seen: Seen;
  readonly observer: ReconcileObserver;
} {
  const seen: Seen = { queued: [], started: [], settled: [], ended: [] };
  const observer: ReconcileObserver = {
    queued: (_controller, key, options) => void seen.queued.push([key, options]),
    started: (_controller, key, { attempt }) => {
      seen.started.push([key, attempt]);
      return tallyOf(key);
    },
    settled: (tally, run) => void seen.settled.push([tally, run]),
    ended: (controller) => void seen.ended.push(controller),
  };
  return { seen, observer };
}

it('reports events with their object and version, then the run, then how it ended', async () => {
  const { seen, observer: given } = recording();
  const t = createHarness(
    async ({ name }) => {
      if (name === 'failing') throw new Error('no');
      if (name === 'final') throw terminalError(new Error('never'));
      return name === 'later' ? { requeueAfterMs: 60_000 } : undefined;
    },
    { observer: given },
  );
  const { done } = await t.start();
  for (const name of ['fine', 'later', 'failing', 'final']) t.pods.add(pod(name));
  await settle();
  expect(
    seen.queued.map(([key, { cause }]) => [
      key,
      cause?.source,
      cause?.type,
      cause?.name,
      cause?.header?.resourceVersion,
    ]),
  ).toEqual(
    ['fine', 'later', 'failing', 'final'].map((name) => [
      `default/${name}`,
      'kind source: Pod',
      'create',
      `default/${name}`,
      expect.stringMatching(/^\d+$/),
    ]),
  );
  expect(seen.started.slice(0, 4)).toEqual([
    ['default/fine', 1],
    ['default/later', 1],
    ['default/failing', 1],
    ['default/final', 1],
  ]);
  expect(seen.settled.slice(0, 4).map(([, { result, nextMs }]) => [result, nextMs])).toEqual([
    ['success', undefined],
    ['requeue_after', 60_000],
    ['error', 5],
    ['terminal', undefined],
  ]);
  expect(seen.settled[2]?.[1].error).toMatchObject({ message: 'no' });
  t.stop.abort();
  await done;
  expect(seen.ended).toEqual(['test']);
});

it('has its tally current in the run and in everything that the run awaits', async () => {
  const requestCounter = new AsyncLocalStorage<RequestTally>();
  const tallies = new Map<string, RequestTally>();
  const { seen, observer: given } = recording((key) => {
    const tally = { requests: 0 };
    tallies.set(key, tally);
    return tally;
  });
  const t = createHarness(
    async () => {
      await Promise.resolve();
      const tally = requestCounter.getStore();
      if (tally !== undefined) tally.requests += 2;
    },
    { observer: given, requestCounter },
  );
  await t.start();
  t.pods.add(pod('a'));
  await settle();
  expect(seen.settled[0]?.[0]).toBe(tallies.get('default/a'));
  expect(tallies.get('default/a')).toEqual({ requests: 2 });
});

it('names the run in which the hot-loop detector finds a key', async () => {
  const { seen, observer: given } = recording();
  const t = createHarness(async () => ({ requeueAfterMs: 1 }), { observer: given, hotLoop: { maxPerMinute: 3 } });
  await t.start();
  t.pods.add(pod('a'));
  for (let run = 0; run < 6; run++) {
    await settle();
    await t.clock.advance(1);
  }
  expect(seen.settled.slice(0, 5).map(([, { isLooping }]) => isLooping)).toEqual([false, false, false, true, false]);
});

it('costs what it would have recorded where it throws, and says so once', async () => {
  const broken = (): never => {
    throw new Error('recorder is broken');
  };
  const given = { queued: broken, started: broken, settled: broken, ended: broken };
  const t = createHarness(async () => undefined, { observer: given });
  const { done } = await t.start();
  t.pods.add(pod('a'));
  t.pods.add(pod('b'));
  await settle();
  expect(t.total('success')).toBe(2);
  t.stop.abort();
  await done;
  expect(t.logger.lines.filter(({ message }) => message.startsWith('the observer failed'))).toHaveLength(1);
});

it('is named where it is not one', () => {
  const options = { name: 'a', reconciler: async () => undefined, observer: {} as ReconcileObserver };
  expect(() => createController(options)).toThrow(/observer has no method queued, started, settled/);
});
