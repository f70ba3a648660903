// Seeded lives of two managers that compete for one lease: started, failed and stopped at any moment, with work that
// outlives its stop, a grace period of 0, outages, theft, and re-election. KCTL_PROPERTY_SEED repeats a run.
import { createLeaderElector } from '@kctl/leader-election';
import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Manager, OnLost, Runnable } from '../src/index.js';
import { createManager } from '../src/index.js';
import { fakeCluster } from './fakes.js';
import { MemoryLease } from './memory-lock.js';

const runs = Number(process.env['PROPERTY_RUNS'] ?? 50);
const durations = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const stepMs = 250;
/** Work that ignores its signal ends at the latest after this. */
const longestMs = 40_000;

/** How a runnable behaves: how long after its signal it ends, and what it does before. */
interface Nature {
  readonly needLeaderElection: boolean;
  readonly endsAfterMs: number;
  readonly failsAfterMs: number | undefined;
  readonly finishes: boolean;
}

interface Life {
  readonly onLost: OnLost;
  readonly graceMs: number;
  readonly startsAtMs: number;
  readonly natures: readonly Nature[];
}

type Event =
  | { readonly what: 'stop' | 'remove' | 'add'; readonly who: 0 | 1 }
  | { readonly what: 'outage'; readonly forMs: number }
  | { readonly what: 'theft' };

const ms = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const nature: fc.Arbitrary<Nature> = fc.record({
  needLeaderElection: fc.boolean(),
  endsAfterMs: fc.oneof(fc.constant(0), ms(2_000), ms(longestMs)),
  failsAfterMs: fc.option(ms(60_000), { nil: undefined, freq: 6 }),
  finishes: fc.boolean(),
});
const life: fc.Arbitrary<Life> = fc.record({
  onLost: fc.constantFrom<OnLost>('exit', 'rejoin', 'rejoin-after-outage'),
  graceMs: fc.constantFrom(0, 1_000, 30_000),
  startsAtMs: ms(3_000),
  natures: fc.array(nature, { minLength: 1, maxLength: 3 }),
});
const who = fc.constantFrom<0 | 1>(0, 1);
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ what: fc.constantFrom('stop' as const, 'remove' as const, 'add' as const), who }),
  fc.record({ what: fc.constant('outage' as const), forMs: ms(40_000) }),
  fc.record({ what: fc.constant('theft' as const) }),
);
const script = fc.array(fc.record({ afterMs: ms(20_000), event }), { maxLength: 8 });

/** One manager and what of it runs. */
class Replica {
  readonly manager: Manager;
  readonly stop = new AbortController();
  readonly runnables: Runnable[] = [];
  running = 0;
  leaderWork = 0;
  outcome: unknown = 'new';
  #listeners = 0;
  readonly #clock: FakeClock;
  readonly #graceMs: number;
  stoppedAt: number | undefined;

  constructor(identity: string, { onLost, graceMs, natures }: Life, parts: { clock: FakeClock; lease: MemoryLease }) {
    const { clock, lease } = parts;
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.manager = createManager({
      cluster: fakeCluster(),
      clock,
      gracefulShutdownTimeoutMs: graceMs,
      leaderElection: {
        onLost,
        rejoinTimeoutMs: 5_000,
        newElector: ({ lead, reelect }) =>
          createLeaderElector({
            ...durations,
            reelect,
            clock,
            random: () => 0.5,
            lock: lease.lock(identity),
            callbacks: { onStartedLeading: lead },
          }),
      },
    });
    this.manager.elected.catch(() => undefined);
    for (const each of natures) this.add(each);
    const { signal } = this.stop;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      this.#listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      this.#listeners--;
      remove(...args);
    };
  }

  get listeners(): number {
    return this.#listeners;
  }

  get isOver(): boolean {
    return this.outcome !== 'new' && this.outcome !== 'running';
  }

  add({ needLeaderElection, endsAfterMs, failsAfterMs, finishes }: Nature): void {
    const clock = this.#clock;
    const work = (delta: number): void => {
      this.running += delta;
      if (needLeaderElection) this.leaderWork += delta;
    };
    const runnable: Runnable = {
      needLeaderElection,
      run: async (signal) => {
        work(1);
        try {
          await new Promise<void>((resolve, reject) => {
            const timer =
              failsAfterMs === undefined
                ? undefined
                : clock.setTimer(() => (finishes ? resolve() : reject(new Error('failed'))), failsAfterMs);
            const onAbort = (): void => {
              timer?.cancel();
              if (endsAfterMs === 0) resolve();
              else clock.setTimer(resolve, endsAfterMs);
            };
            if (signal.aborted) onAbort();
            else signal.addEventListener('abort', onAbort, { once: true });
          });
        } finally {
          work(-1);
        }
      },
    };
    try {
      this.manager.add(runnable);
      this.runnables.push(runnable);
    } catch {
      // It is stopping, because it was told to or because of a failure: nothing is taken then.
    }
  }

  run(): void {
    this.outcome = 'running';
    void this.manager.run(this.stop.signal).then(
      () => (this.outcome = 'ended'),
      (error: unknown) => (this.outcome = error),
    );
  }

  end(): void {
    this.stoppedAt ??= this.#clock.monotonicNow();
    this.stop.abort();
  }

  /** When `run` must have settled at the latest, once it was told to stop. */
  get dueAt(): number {
    const releaseMs = 2_000;
    return this.stoppedAt === undefined ? Infinity : this.stoppedAt + this.#graceMs + releaseMs + stepMs;
  }
}

it('never gives the lease away beside work, knows who leads, and leaves nothing behind', {
  timeout: 120_000,
}, async () => {
  let [releases, expiries, rejoins] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.tuple(life, life), script, async (lives, events) => {
      const clock = new FakeClock();
      const lease = new MemoryLease();
      const [a, b] = lives;
      const replicas = [new Replica('a', a, { clock, lease }), new Replica('b', b, { clock, lease })];
      const of = (identity: string): Replica | undefined => replicas[identity === 'a' ? 0 : identity === 'b' ? 1 : 2];
      const violations: string[] = [];
      // The moment of truth: the lease is written by whoever holds it.
      const overwrite = lease.overwrite.bind(lease);
      lease.overwrite = (record) => {
        const before = lease.holder;
        if (record.holderIdentity === '' && before !== '') {
          releases++;
          // Collected: the elector would take a failed expectation for a failed request.
          if ((of(before)?.running ?? 0) > 0) violations.push(`${before} releases the lease beside its work`);
        }
        if (before !== '' && record.holderIdentity !== before) expiries++;
        overwrite(record);
      };
      const check = (): void => {
        expect(violations).toEqual([]);
        const leaders = replicas.filter(({ manager }) => manager.isLeader);
        expect(leaders.length, 'leaders by their own clocks').toBeLessThanOrEqual(1);
        for (const { isOver, manager, dueAt, outcome } of replicas) {
          if (isOver) expect(manager.isLeader, 'a manager that has ended leads').toBe(false);
          if (outcome === 'running') expect(clock.monotonicNow(), 'a stop takes too long').toBeLessThan(dueAt);
        }
      };
      const advance = async (forMs: number): Promise<void> => {
        for (let left = forMs; left > 0; left -= stepMs) {
          await clock.advance(Math.min(stepMs, left));
          check();
        }
      };
      for (const [index, { startsAtMs }] of lives.entries()) clock.setTimer(() => replicas[index]?.run(), startsAtMs);
      await advance(4_000);
      for (const { afterMs, event: given } of events) {
        await advance(afterMs);
        const replica = 'who' in given ? replicas[given.who] : undefined;
        switch (given.what) {
          case 'stop':
            replica?.end();
            break;
          case 'add':
            replica?.add({ needLeaderElection: true, endsAfterMs: 500, failsAfterMs: undefined, finishes: false });
            break;
          case 'remove': {
            const [first] = replica?.runnables.splice(0, 1) ?? [];
            if (first !== undefined) void replica?.manager.remove(first);
            break;
          }
          case 'outage':
            lease.outage = new Error('connection refused');
            clock.setTimer(() => (lease.outage = undefined), given.forMs);
            break;
          case 'theft':
            if (lease.record !== undefined)
              lease.overwrite({
                ...lease.record,
                holderIdentity: 'thief',
                acquireTime: 'x',
                renewTime: `${clock.now()}`,
              });
            break;
        }
        check();
      }
      // Whoever is still alive leads again once the trouble has passed.
      await advance(longestMs + 60_000);
      const alive = replicas.filter(({ outcome, stoppedAt }) => outcome === 'running' && stoppedAt === undefined);
      const leading = replicas.filter(({ manager }) => manager.isLeader);
      if (alive.length > 0) {
        expect(leading).toHaveLength(1);
        rejoins++;
      }
      for (const replica of replicas) replica.end();
      await advance(30_000 + longestMs + 5_000);
      expect(replicas.map(({ isOver, running }) => [isOver, running])).toEqual([
        [true, 0],
        [true, 0],
      ]);
      expect(clock.pendingTimers, 'timers that are left').toBe(0);
      expect(replicas.map(({ listeners }) => Math.max(0, listeners))).toEqual([0, 0]);
    }),
    { numRuns: runs },
  );
  // The generator reaches what it is for.
  expect(releases).toBeGreaterThan(runs / 10);
  expect(expiries).toBeGreaterThan(runs / 10);
  expect(rejoins).toBeGreaterThan(runs / 10);
});
