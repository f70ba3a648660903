import { expectCost, expectFlatHeap, expectReleased, structure } from '@kctl/lifetime';
import { createLeaderElector } from '@kctl/leader-election';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import type { Runnable } from '../src/index.js';
import { createManager } from '../src/index.js';
import { createHealthHandler } from '../src/health.js';
import { ReviewMemory } from '../src/review-memory.js';
import { fakeCluster, untilAborted } from './fakes.js';
import { MemoryLease } from './memory-lock.js';

const controller = (name: string): Runnable => ({
  name,
  runnableType: 'controller',
  run: untilAborted,
  warmup: untilAborted,
  sources: () => [{ kind: { group: '', version: 'v1', kind: 'Pod' }, isRequired: true }],
  waitUntilCold: async () => undefined,
});

structure(
  {
    package: '@kctl/manager',
    structure: 'Manager',
    operation: 'add, remove',
    cost: 'O(1)',
    retains: 'the runnables that were added and not removed',
  },
  () => {
    it('adds and removes n runnables in O(n)', async () => {
      await expectCost({
        order: 'O(n)',
        size: 300,
        prepare: (size) => ({
          manager: createManager({ cluster: fakeCluster(), clock: new FakeClock() }),
          added: Array.from({ length: size }, (_, index) => controller(`c-${index}`)),
        }),
        run: async ({ manager, added }) => {
          for (const runnable of added) manager.add(runnable);
          for (const runnable of added) await manager.remove(runnable);
        },
      });
    });

    it('releases a runnable that was removed while it ran', async () => {
      await expectReleased(async () => {
        const manager = createManager({ cluster: fakeCluster(), clock: new FakeClock() });
        const stop = new AbortController();
        const done = manager.run(stop.signal);
        await manager.elected;
        const runnable = controller('gone');
        await manager.add(runnable).remove();
        return { keep: { manager, stop, done }, released: { runnable } };
      });
    });
  },
);

structure(
  {
    package: '@kctl/manager',
    structure: 'Manager that competes again',
    operation: 'one lost and won lease',
    cost: 'O(n) in leader runnables',
    retains: 'nothing of terms that are over',
  },
  () => {
    it('stays flat over losses', async () => {
      const [clock, lease] = [new FakeClock(), new MemoryLease()];
      const manager = createManager({
        cluster: fakeCluster(),
        clock,
        leaderElection: {
          onLost: 'rejoin-after-outage',
          newElector: ({ lead, reelect }) =>
            createLeaderElector({ lock: lease.lock('a'), clock, reelect, callbacks: { onStartedLeading: lead } }),
        },
      });
      let starts = 0;
      manager.add({
        run: (signal) => {
          starts++;
          return untilAborted(signal);
        },
      });
      const stop = new AbortController();
      const done = manager.run(stop.signal);
      await clock.advance(0);
      await expectFlatHeap({
        allowedBytes: 300_000,
        churn: async () => {
          for (let round = 0; round < 100; round++) {
            lease.outage = new Error('connection refused');
            await clock.advance(12_000);
            lease.outage = undefined;
            await clock.advance(20_000);
          }
        },
      });
      expect(starts).toBeGreaterThan(50);
      stop.abort();
      await clock.advance(0);
      await done;
    });
  },
);

structure(
  {
    package: '@kctl/manager',
    structure: 'Access filter',
    operation: 'one request',
    cost: 'O(1)',
    retains: 'hashes and users of 1,024 tokens that are valid and of 1,024 that are not, and as many decisions',
  },
  () => {
    it('stays flat however many tokens are guessed', async () => {
      const memory = new ReviewMemory<string>(new FakeClock());
      let token = 0;
      const guess = (): Promise<string> =>
        memory.getOrAsk(`guess-${token++}`, async () => ({ value: 'no', isPositive: false, ttlMs: 60_000 }));
      for (let index = 0; index < 2_000; index++) await guess();
      await expectFlatHeap({
        churn: async () => {
          for (let index = 0; index < 2_000; index++) await guess();
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/manager',
    structure: 'Health endpoint',
    operation: 'one probe',
    cost: 'O(n) in checks',
    retains: 'one entry for each check that hangs',
  },
  () => {
    it('stays flat while a check hangs', async () => {
      const clock = new FakeClock();
      const handler = createHealthHandler({
        path: '/healthz',
        checks: new Map([['hung', () => new Promise<void>(() => undefined)]]),
        onFailure: () => undefined,
        clock,
      });
      const probe = async (): Promise<void> => {
        const response = { writeHead: () => undefined, end: () => undefined };
        const done = handler({ url: '/healthz' } as never, response as never);
        await clock.advance(5_000);
        await done;
      };
      await probe();
      await expectFlatHeap({
        allowedBytes: 300_000,
        churn: async () => {
          for (let round = 0; round < 500; round++) await probe();
        },
      });
      expect(clock.pendingTimers).toBe(0);
    });
  },
);
