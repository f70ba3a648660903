import { systemClock } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultStuckAfterMs } from '../src/finalizer/stuck-cleanup.js';
import { controllerDefaults, createController, createEventChannel, lowPriority } from '../src/index.js';
import { defaultRateLimiter } from '../src/queue/make-queue.js';
import { informerRetryMs } from '../src/source/kind-source.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';

interface Row {
  readonly option: string;
  readonly ours: unknown;
  /** As controller-runtime's `controller.Options` and `config.Controller` have it (main, August 2026), in our units. */
  readonly upstream: unknown;
  /** Why ours differs. */
  readonly difference?: string;
}

const { settings } = createController({ name: 'x', reconciler: async () => undefined });
const delays = (usePriorityQueue: boolean, failures: number): number => {
  const limiter = defaultRateLimiter<string>(usePriorityQueue, { key: (item) => item, clock: systemClock });
  let delay = 0;
  for (let failure = 0; failure < failures; failure++) delay = limiter.when('a');
  return delay;
};

/** How many distinct items go at once without a priority queue, and how long the next one waits. */
const burst = (): { readonly items: number; readonly nextMs: number } => {
  const limiter = defaultRateLimiter<string>(false, { key: (item) => item, clock: new FakeClock() });
  for (let items = 0; ; items++) {
    const nextMs = limiter.when(`item ${items}`);
    if (nextMs > 5) return { items, nextMs };
  }
};
const fill = (): number => {
  const channel = createEventChannel<number>();
  while (channel.send(channel.length)) continue;
  return channel.length;
};

const rows: readonly Row[] = [
  { option: 'maxConcurrentReconciles', ours: settings.maxConcurrentReconciles, upstream: 1 },
  { option: 'cacheSyncTimeoutMs', ours: settings.cacheSyncTimeoutMs, upstream: 120_000 },
  { option: 'recoverPanic', ours: settings.recoverPanic, upstream: true },
  { option: 'needLeaderElection', ours: settings.needLeaderElection, upstream: true },
  { option: 'usePriorityQueue', ours: settings.usePriorityQueue, upstream: true },
  { option: 'enableWarmup', ours: settings.enableWarmup, upstream: false },
  { option: 'reconciliationTimeoutMs', ours: settings.reconciliationTimeoutMs, upstream: 0 },
  { option: 'skipNameValidation', ours: settings.skipNameValidation, upstream: false },
  { option: 'leaderElectionScope', ours: settings.leaderElectionScope, upstream: '' },
  { option: 'rateLimiter: first delay', ours: delays(true, 1), upstream: 5 },
  { option: 'rateLimiter: longest delay', ours: delays(true, 40), upstream: 1_000_000 },
  { option: 'rateLimiter without priority queue: 100 at once', ours: delays(false, 1), upstream: 5 },
  { option: 'rateLimiter without priority queue: burst', ours: burst().items, upstream: 100 },
  { option: 'rateLimiter without priority queue: the next one, in ms', ours: burst().nextMs, upstream: 100 },
  { option: 'source.Channel: buffer', ours: fill(), upstream: 1024 },
  { option: 'handler.LowPriority', ours: lowPriority, upstream: -100 },
  { option: 'runLimit', ours: 'none', upstream: 'none' },
  { option: 'finalizing: stuckAfterMs', ours: defaultStuckAfterMs, upstream: 'none', difference: 'it only tells' },
  { option: 'source.Kind: retry of a missing kind', ours: informerRetryMs, upstream: 10_000 },
  { option: 'eventsDuringBackoff', ours: 'immediate', upstream: 'immediate' },
  { option: 'debounce', ours: 'none', upstream: 'none' },
  { option: 'safetyInterval', ours: 'none', upstream: 'none' },
  {
    option: 'retryPolicy: Retry-After of a 429 or 503',
    ours: 'honoured',
    upstream: 'ignored',
    difference: 'the server has said when to come back',
  },
  {
    option: 'log level of the first 5 conflicts in a row',
    ours: 'info',
    upstream: 'error',
    difference: 'a conflict says that the cache was behind, which heals itself',
  },
  { option: 'hotLoop', ours: 'warns at 300/min', upstream: 'none', difference: 'it only warns' },
];

describe('defaults', () => {
  afterAll(() => console.table(rows.map(({ difference = '', ...row }) => ({ ...row, difference }))));

  it.each(rows)('$option: ours $ours, upstream $upstream', ({ ours, upstream, difference }) => {
    if (difference === undefined) expect(ours).toEqual(upstream);
    else expect(ours).not.toEqual(upstream);
  });

  it('lists every setting', () => {
    const listed = rows.map(({ option }) => option);
    for (const option of Object.keys(controllerDefaults)) expect(listed).toContain(option);
    expect(settings).toEqual(controllerDefaults);
  });

  it('warns of a hot loop from the 301st run in a minute on', async () => {
    const t = createHarness(async () => ({ requeueAfterMs: 100 }));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(29_900);
    const warnings = (): number => t.logger.lines.filter(({ level }) => level === 'warn').length;
    expect([t.runs.length, warnings()]).toEqual([300, 0]);
    await t.clock.advance(100);
    await settle();
    expect(warnings()).toBe(1);
    t.stop.abort();
  });
});
