import { sleep, type Clock } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startCandidate, type Candidate } from './candidate.js';
import { MemoryLockServer, type LockFaults } from './memory-lock.js';

/** Tighter than the defaults, so that there is little room for error. */
const durations = { leaseDurationMs: 12_000, renewDeadlineMs: 10_000, retryPeriodMs: 1_500 };
/** Clocks run up to this much too fast or too slow. The limit: (1 + r) / (1 - r) < leaseDuration / renewDeadline. */
const maxDrift = 0.09;
const faultyMs = 90_000;
const runs = Number(process.env['PROPERTY_RUNS'] ?? 40);
const never = new Promise<never>(() => undefined);

/** What may happen to a candidate. */
interface Nature {
  readonly drift: number;
  readonly stalls: readonly { readonly at: number; readonly ms: number }[];
  readonly partitions: readonly { readonly at: number; readonly ms: number }[];
  /** One number a request, in turn: what becomes of it. */
  readonly luck: readonly number[];
}

const nature: fc.Arbitrary<Nature> = fc.record({
  drift: fc.double({ min: -maxDrift, max: maxDrift, noNaN: true }),
  stalls: fc.array(fc.record({ at: fc.integer({ min: 0, max: faultyMs }), ms: fc.integer({ min: 1, max: 60_000 }) }), {
    maxLength: 3,
  }),
  partitions: fc.array(
    fc.record({ at: fc.integer({ min: 0, max: faultyMs }), ms: fc.integer({ min: 1, max: 30_000 }) }),
    { maxLength: 5 },
  ),
  luck: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 50 }),
});

/** A candidate's own idea of time: drifting, wall clock jumping, with timers that wait while it is stalled. */
function ownClock(world: FakeClock, { drift, stalls }: Nature): { clock: Clock; awake: () => Promise<void> } {
  const rate = 1 + drift;
  const stalledUntil = (): number => {
    const now = world.monotonicNow();
    return Math.max(now, ...stalls.filter(({ at, ms }) => at <= now && now < at + ms).map(({ at, ms }) => at + ms));
  };
  const setTimer: Clock['setTimer'] = (callback, ms) => {
    let timer = world.setTimer(fire, ms / rate);
    function fire(): void {
      const left = stalledUntil() - world.monotonicNow();
      if (left > 0) timer = world.setTimer(fire, left);
      else callback();
    }
    return { cancel: () => timer.cancel() };
  };
  return {
    clock: {
      now: () => world.now() + Math.sin(world.monotonicNow()) * 1e9,
      monotonicNow: () => world.monotonicNow() * rate,
      setTimer,
    },
    awake: async () => {
      for (let left = 1; left > 0; ) {
        left = stalledUntil() - world.monotonicNow();
        if (left > 0) await sleep(left, { clock: world });
      }
    },
  };
}

/** The network of a candidate: delays, lost requests, lost answers, requests that hang, partitions. */
function network(world: FakeClock, { luck, partitions }: Nature, awake: () => Promise<void>): LockFaults {
  let next = 0;
  const draw = (): number => (world.monotonicNow() > faultyMs ? 0 : (luck[next++ % luck.length] ?? 0));
  const isCut = (): boolean => {
    const now = world.monotonicNow();
    return partitions.some(({ at, ms }) => at <= now && now < at + ms);
  };
  const travel = async (): Promise<void> => {
    if (isCut()) await never;
    const fate = draw();
    if (fate > 0.96) await never;
    if (fate > 0.88) throw new Error('connection reset');
    // Delayed, up to 6 s; the request goes on to the server also when the candidate has given it up.
    if (fate > 0.5) await sleep((fate - 0.5) * 16_000, { clock: world });
  };
  return {
    before: travel,
    after: async () => {
      try {
        await travel();
      } finally {
        await awake();
      }
    },
  };
}

it('never has two open fences, and soon has one when the faults end', async () => {
  let terms = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(nature, { minLength: 2, maxLength: 5 }), async (natures) => {
      const world = new FakeClock();
      const server = new MemoryLockServer();
      const candidates: Candidate[] = [];
      const violations: number[] = [];
      const open = (): number => candidates.filter(({ elector }) => elector.fence.isOpen).length;
      for (const [index, own] of natures.entries()) {
        const { clock, awake } = ownClock(world, own);
        candidates.push(
          startCandidate(server, world, `c${index}`, {
            ...durations,
            clock,
            reelect: true,
            random: () => own.luck[0] ?? 0,
            faults: network(world, own, awake),
            work: async (signal) => {
              terms++;
              if (open() > 1) violations.push(world.monotonicNow());
              await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
            },
          }),
        );
      }
      const step = 100;
      for (let now = 0; now < faultyMs; now += step) {
        await world.advance(step);
        expect(open()).toBeLessThanOrEqual(1);
      }
      const worst = Math.max(
        faultyMs,
        ...natures.flatMap(({ stalls, partitions }) => [...stalls, ...partitions].map(({ at, ms }) => at + ms)),
      );
      while (world.monotonicNow() < worst) {
        await world.advance(step);
        expect(open()).toBeLessThanOrEqual(1);
      }
      // A request that hangs still is given up after half the deadline.
      const bound =
        (durations.leaseDurationMs + durations.retryPeriodMs + durations.renewDeadlineMs / 2) / (1 - maxDrift);
      let led = 0;
      for (let now = 0; now < bound; now += step) {
        await world.advance(step);
        expect(open()).toBeLessThanOrEqual(1);
        led += open();
      }
      expect(led).toBeGreaterThan(0);
      for (const { stop } of candidates) stop.abort();
      await world.advance(60_000);
      expect(open()).toBe(0);
      expect(violations).toEqual([]);
    }),
    { numRuns: runs },
  );
  expect(terms).toBeGreaterThan(runs);
});
