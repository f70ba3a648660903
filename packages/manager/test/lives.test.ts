// Seeded lives of two managers that compete for one lease: started, failed, stalled and stopped at any moment, with work
// that outlives its stop, a grace period of 0, outages, theft, caches that sync late or lose their watch, and
// re-election. KCTL_PROPERTY_SEED repeats a run.
import type { LeaderElectionRecord } from '@kctl/leader-election';
import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OnLost } from '../src/index.js';
import { durations, Replica, stepMs, type Life, type Nature } from './lives/replica.js';
import { MemoryLease } from './memory-lock.js';

const runs = Number(process.env['PROPERTY_RUNS'] ?? 30);
/** Work that ignores its signal ends at the latest after this. */
const longestMs = 40_000;

type Event =
  | { readonly what: 'stop' | 'remove' | 'add' | 'declareLate' | 'watchAgain'; readonly who: 0 | 1 }
  | { readonly what: 'stall'; readonly who: 0 | 1; readonly forMs: number }
  | { readonly what: 'loseWatch'; readonly who: 0 | 1; readonly reason: string }
  | { readonly what: 'outage'; readonly forMs: number }
  | { readonly what: 'theft'; readonly says: Partial<LeaderElectionRecord> };

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
  syncsAtMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: ms(20_000) }),
  addsScopedAtMs: ms(4_000),
  natures: fc.array(nature, { minLength: 1, maxLength: 3 }),
});
/** What is added while a replica runs. */
const lateNature: Nature = { needLeaderElection: true, endsAfterMs: 500, failsAfterMs: undefined, finishes: false };
/** What a thief writes beside its name: what a program of its own may get wrong. */
const thefts: readonly Partial<LeaderElectionRecord>[] = [
  {},
  { leaseDurationSeconds: 0 },
  { leaseDurationSeconds: -5 },
  { leaderTransitions: 2 ** 31 - 1 },
  { leaderTransitions: Number.NaN },
];
const who = fc.constantFrom<0 | 1>(0, 1);
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ what: fc.constantFrom('stop' as const, 'remove' as const, 'add' as const), who }),
  fc.record({ what: fc.constant('stall' as const), who, forMs: ms(30_000) }),
  fc.record({ what: fc.constant('loseWatch' as const), who, reason: fc.constantFrom('connection', 'forbidden') }),
  fc.record({ what: fc.constantFrom('declareLate' as const, 'watchAgain' as const), who }),
  fc.record({ what: fc.constant('outage' as const), forMs: ms(40_000) }),
  fc.record({ what: fc.constant('theft' as const), says: fc.constantFrom(...thefts) }),
);
const script = fc.array(fc.record({ afterMs: ms(20_000), event }), { maxLength: 8 });

it('never gives the lease away beside work, knows who leads and who is ready, and leaves nothing behind', {
  timeout: 300_000,
}, async () => {
  let [releases, expiries, rejoins, stalls, refusals] = [0, 0, 0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.tuple(life, life), script, async (lives, events) => {
      const world = new FakeClock();
      const lease = new MemoryLease();
      const [a, b] = lives;
      const scoped = new MemoryLease();
      const leaseOf = (scope: string): MemoryLease => (scope === '' ? lease : scoped);
      const replicas = [new Replica('a', a, leaseOf), new Replica('b', b, leaseOf)];
      /** When the event loop of a replica goes on, by the clock of the world. */
      const stalledUntil = new Map<Replica, number>();
      const of = (identity: string): Replica | undefined => replicas[identity === 'a' ? 0 : identity === 'b' ? 1 : 2];
      const violations: string[] = [];
      /** Until when a thief that does not say for how long keeps its lease, by the clock of the world. */
      let stolenUntil = 0;
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
        const writer = of(record.holderIdentity);
        if (writer !== undefined) writer.wroteAt = writer.clock.monotonicNow();
        if (writer !== undefined && before === 'thief' && world.monotonicNow() < stolenUntil)
          violations.push(`${record.holderIdentity} takes a lease whose holder may be alive`);
        // An int32 in a Lease: an API server refuses anything else.
        if (writer !== undefined && Math.abs(record.leaderTransitions | 0) !== record.leaderTransitions)
          violations.push(`${record.holderIdentity} writes ${record.leaderTransitions} transitions`);
        overwrite(record);
      };
      const check = (): void => {
        expect(violations).toEqual([]);
        expect(
          replicas.flatMap(({ usurped }) => usurped),
          'work that began without the lease of its scope',
        ).toEqual([]);
        // One that is stalled says nothing.
        const awake = replicas.filter((replica) => !stalledUntil.has(replica));
        const leaders = awake.filter(({ manager }) => manager.isLeader);
        expect(leaders.length, 'leaders by their own clocks').toBeLessThanOrEqual(1);
        for (const { clock, wroteAt } of leaders)
          expect(clock.monotonicNow() - wroteAt, 'leads without a lease').toBeLessThanOrEqual(
            durations.renewDeadlineMs,
          );
        for (const { isOver, manager, dueAt, outcome, clock } of awake) {
          if (isOver) expect(manager.isLeader, 'a manager that has ended leads').toBe(false);
          if (outcome === 'running') expect(clock.monotonicNow(), 'a stop takes too long').toBeLessThan(dueAt);
        }
      };
      /** Lets a replica catch up with the world: straight after a stall it must say what is so, before any timer. */
      const catchUp = async (replica: Replica): Promise<void> => {
        const behindMs = world.monotonicNow() - replica.clock.monotonicNow();
        if (stalledUntil.delete(replica)) {
          stalls++;
          replica.clock.stall(behindMs);
          // The stop was requested while the process was stalled.
          if (replica.stoppedAt !== undefined) replica.stoppedAt = Math.max(replica.stoppedAt, world.monotonicNow());
          check();
        }
        await replica.clock.advance(behindMs);
      };
      const advance = async (forMs: number): Promise<void> => {
        for (let left = forMs; left > 0; left -= stepMs) {
          await world.advance(Math.min(stepMs, left));
          for (const replica of replicas)
            if ((stalledUntil.get(replica) ?? 0) <= world.monotonicNow()) await catchUp(replica);
          check();
        }
      };
      const askReadiness = async (): Promise<void> => {
        for (const replica of replicas) {
          if (stalledUntil.has(replica)) continue;
          const readiness = await replica.readiness();
          if (readiness === undefined) continue;
          expect(readiness.isReady, 'what /readyz says').toBe(readiness.must);
          if (!readiness.isReady) refusals++;
        }
      };
      for (const [index, { startsAtMs, syncsAtMs, addsScopedAtMs }] of lives.entries()) {
        world.setTimer(() => replicas[index]?.add({ ...lateNature, scope: 'scoped' }), addsScopedAtMs);
        world.setTimer(() => replicas[index]?.run(), startsAtMs);
        world.setTimer(() => replicas[index]?.sync(), syncsAtMs);
      }
      await advance(4_000);
      await askReadiness();
      for (const { afterMs, event: given } of events) {
        await advance(afterMs);
        const replica = 'who' in given ? replicas[given.who] : undefined;
        switch (given.what) {
          case 'stall':
            if (replica !== undefined) stalledUntil.set(replica, world.monotonicNow() + given.forMs);
            break;
          case 'loseWatch':
            replica?.loseWatch(given.reason);
            break;
          case 'declareLate':
            replica?.declareLate();
            break;
          case 'watchAgain':
            replica?.watchAgain();
            break;
          case 'stop':
            replica?.end();
            break;
          case 'add':
            replica?.add(lateNature);
            break;
          case 'remove': {
            const [first] = replica?.runnables.splice(0, 1) ?? [];
            if (first !== undefined) void replica?.manager.remove(first);
            break;
          }
          case 'outage':
            lease.outage = new Error('connection refused');
            world.setTimer(() => (lease.outage = undefined), given.forMs);
            break;
          case 'theft':
            if (lease.record === undefined) break;
            if ((given.says.leaseDurationSeconds ?? 1) <= 0)
              stolenUntil = world.monotonicNow() + durations.leaseDurationMs;
            lease.overwrite({
              ...lease.record,
              holderIdentity: 'thief',
              acquireTime: 'x',
              renewTime: `${world.now()}`,
              ...given.says,
            });
            break;
        }
        check();
        await askReadiness();
      }
      // Whoever is still alive leads again once the trouble has passed.
      for (const replica of replicas) {
        replica.sync();
        replica.watchAgain();
      }
      await advance(longestMs + 60_000);
      await askReadiness();
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
      expect(
        replicas.map(({ clock }) => clock.pendingTimers),
        'timers that are left',
      ).toEqual([0, 0]);
      expect(replicas.map(({ listeners }) => Math.max(0, listeners))).toEqual([0, 0]);
    }),
    { numRuns: runs },
  );
  // The generator reaches what it is for.
  expect(releases).toBeGreaterThan(runs / 10);
  expect(expiries).toBeGreaterThan(runs / 10);
  expect(rejoins).toBeGreaterThan(runs / 10);
  expect(stalls).toBeGreaterThan(runs / 10);
  expect(refusals).toBeGreaterThan(runs / 10);
});
