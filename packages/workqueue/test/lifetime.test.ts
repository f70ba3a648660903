import { expectCost, expectFlatHeap, expectReleased, retainedBytes, structure } from '@kctl/lifetime';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import {
  bucketRateLimiter,
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  defaultControllerRateLimiter,
} from '../src/index.js';
import type { WorkQueue } from '../src/index.js';

const keys = (size: number, round = 0): string[] => Array.from({ length: size }, (_, index) => `key-${round}-${index}`);

const drain = (queue: WorkQueue<string>): void => {
  for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) queue.done(key);
};

structure(
  {
    package: '@kctl/workqueue',
    structure: 'WorkQueue',
    operation: 'add, tryGet, done',
    cost: 'O(1)',
    retains:
      'keys that wait or are being worked on, about 45 bytes each besides the key; idle keys up to 1,024 or twice as many as are in use; of items with a key function the key alone',
  },
  () => {
    it('takes n keys in O(n)', async () => {
      await expectCost({
        order: 'O(n)',
        size: 5_000,
        prepare: (size) => ({ queue: createWorkQueue(), added: keys(size) }),
        run: ({ queue, added }) => {
          for (const key of added) queue.add(key);
          drain(queue);
        },
      });
    });

    it('retains little besides the keys', async () => {
      const added = keys(100_000);
      const { value, bytes } = await retainedBytes(() => {
        const queue = createWorkQueue();
        for (const key of added) queue.add(key);
        return queue;
      });
      expect(value.length).toBe(100_000);
      expect(bytes).toBeLessThan(100_000 * 120);
    });

    it('releases items that are done', async () => {
      await expectReleased(() => {
        const queue = createWorkQueue<{ readonly id: string }>({ key: ({ id }) => id });
        const [first, second] = [{ id: 'first' }, { id: 'second' }];
        for (const item of [first, second, { id: 'stays' }]) queue.add(item);
        for (let left = 2; left > 0; left--) queue.done(queue.tryGet() ?? first);
        return { keep: queue, released: { first, second } };
      });
    });

    it('does not grow with the keys that went through', async () => {
      const queue = createWorkQueue();
      await expectFlatHeap({
        churn: (round) => {
          for (const key of keys(50_000, round)) queue.add(key);
          drain(queue);
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/workqueue',
    structure: 'DelayingQueue',
    operation: 'addAfter, addDebounced',
    cost: 'O(log n) in the delayed keys',
    retains: 'delayed keys, about 66 bytes each besides the key; one timer',
  },
  () => {
    it('delays a key among n others in O(log n)', async () => {
      const added = keys(5_000, 1);
      await expectCost({
        order: 'O(log n)',
        size: 5_000,
        prepare: (size) => {
          const clock = new FakeClock();
          const queue = createDelayingQueue({ clock });
          for (const key of keys(size)) queue.addAfter(key, 1_000_000);
          return { clock, queue };
        },
        run: ({ clock, queue }) => {
          added.forEach((key, index) => queue.addAfter(key, 1 + index));
          clock.advanceSync(5_000);
        },
      });
    });

    it('does not grow with the keys whose time came', async () => {
      const clock = new FakeClock();
      const queue = createRateLimitingQueue({ clock });
      await expectFlatHeap({
        churn: (round) => {
          for (const key of keys(50_000, round)) queue.addAfter(key, 5);
          clock.advanceSync(5);
          drain(queue);
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/workqueue',
    structure: 'PriorityQueue',
    operation: 'addWith, tryGet, done',
    cost: 'O(1) besides the priorities in use at the same time',
    retains: 'as a DelayingQueue; of a priority nothing after its last key',
  },
  () => {
    it('takes n keys in O(n)', async () => {
      await expectCost({
        order: 'O(n)',
        size: 5_000,
        prepare: (size) => ({ queue: createPriorityQueue({ clock: new FakeClock() }), added: keys(size) }),
        run: ({ queue, added }) => {
          added.forEach((key, index) => queue.addWith({ priority: index % 5 }, key));
          drain(queue);
        },
      });
    });

    it('does not grow with the keys and priorities that went through', async () => {
      const queue = createPriorityQueue({ clock: new FakeClock() });
      await expectFlatHeap({
        churn: (round) => {
          for (const [index, key] of keys(20_000, round).entries()) {
            queue.addWith({ priority: round * 100_000 + index, reason: key }, key);
            drain(queue);
          }
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/workqueue',
    structure: 'RateLimiter',
    operation: 'when, forget, numRequeues',
    cost: 'O(1)',
    retains: 'keys that failed and were not forgotten; of a bucket those whose token is still to come',
  },
  () => {
    it('does not grow with forgotten keys', async () => {
      const limiter = defaultControllerRateLimiter({ clock: new FakeClock() });
      await expectFlatHeap({
        churn: (round) => {
          for (const key of keys(50_000, round)) {
            limiter.when(key);
            limiter.forget(key);
          }
        },
      });
    });

    it('does not grow with tokens that have come', async () => {
      const clock = new FakeClock();
      const limiter = bucketRateLimiter({ perSecond: 1_000_000, burst: 1, clock });
      await expectFlatHeap({
        churn: (round) => {
          for (const key of keys(50_000, round)) limiter.when(key);
          clock.advanceSync(1_000);
          limiter.when('next');
        },
      });
    });
  },
);

structure(
  {
    package: '@kctl/workqueue',
    structure: 'PriorityQueue with ageing',
    operation: 'addWith that raises a priority',
    cost: 'O(log n) in the keys of the priority; taking a key O(p) in the priorities in use',
    retains: 'as a PriorityQueue, and the time of becoming ready',
  },
  () => {
    it('raises n keys in O(n log n), in whatever order', async () => {
      await expectCost({
        order: 'O(n log n)',
        size: 3_000,
        prepare: (size) => {
          const clock = new FakeClock();
          const queue = createPriorityQueue({ clock, ageing: { stepMs: 1e9 } });
          const added = keys(size);
          for (const key of added) {
            queue.add(key);
            clock.advanceSync(1);
          }
          // A fixed shuffle: neither the oldest nor the newest first.
          const order = added.map((key, index) => ({ key, place: (index * 7_919) % size }));
          return { queue, raised: order.sort((a, b) => a.place - b.place).map(({ key }) => key) };
        },
        run: ({ queue, raised }) => {
          for (const key of raised) queue.addWith({ priority: 1 }, key);
          drain(queue);
        },
      });
    });
  },
);
