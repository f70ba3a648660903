import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { PriorityQueue } from '../priority/priority-queue.js';
import type { QueueFactory } from './setup.js';

/** The behaviour of a {@link PriorityQueue}. Cases after controller-runtime's `priorityqueue_test.go`. */
export function describePriorityQueue(name: string, create: QueueFactory<PriorityQueue<string>>): void {
  const make = (): { clock: FakeClock; queue: PriorityQueue<string> } => {
    const clock = new FakeClock();
    return { clock, queue: create({ clock }) };
  };
  const takeAll = (queue: PriorityQueue<string>): string[] => {
    const taken: string[] = [];
    for (let next = queue.tryGetWithPriority(); next !== undefined; next = queue.tryGetWithPriority()) {
      taken.push(`${next.item}:${next.priority}`);
      queue.done(next.item);
    }
    return taken;
  };

  describe(`${name} is a PriorityQueue`, () => {
    it('hands out higher priorities first, and equal ones first in, first out', () => {
      const { queue } = make();
      queue.addWith({ priority: -100 }, 'low');
      queue.addWith({ priority: 2 }, 'high1', 'high2');
      queue.add('plain');
      queue.addWith({ priority: 2.5 }, 'between');
      expect(takeAll(queue)).toEqual(['between:2.5', 'high1:2', 'high2:2', 'plain:0', 'low:-100']);
    });

    it('keeps the highest priority of several adds, and moves a raised item behind its equals', () => {
      const { queue } = make();
      queue.addWith({ priority: 1 }, 'a', 'b');
      queue.addWith({ priority: 2 }, 'c');
      queue.addWith({ priority: 2 }, 'a');
      queue.addWith({ priority: 0 }, 'b');
      queue.addWith({ priority: 2 }, 'c');
      expect(queue.length).toBe(3);
      expect(takeAll(queue)).toEqual(['c:2', 'a:2', 'b:1']);
    });

    it('counts a plain add as priority 0', () => {
      const { queue } = make();
      queue.addWith({ priority: -100 }, 'a', 'b');
      queue.add('b');
      expect(takeAll(queue)).toEqual(['b:0', 'a:-100']);
    });

    it('makes a delayed item ready at once when it is added without delay', () => {
      const { clock, queue } = make();
      queue.addWith({ afterMs: 1000, priority: 3 }, 'a');
      queue.add('a');
      expect([queue.length, queue.delayed]).toEqual([1, 0]);
      expect(clock.pendingTimers).toBe(0);
      expect(takeAll(queue)).toEqual(['a:3']);
    });

    it('leaves a ready item ready when it is added with a delay', () => {
      const { clock, queue } = make();
      queue.add('a');
      queue.addWith({ afterMs: 1000, priority: 4 }, 'a');
      expect([queue.length, queue.delayed]).toEqual([1, 0]);
      expect(takeAll(queue)).toEqual(['a:4']);
      clock.advanceSync(1000);
      expect(queue.length).toBe(0);
    });

    it('keeps the earliest time and the highest priority of a delayed item', () => {
      const { clock, queue } = make();
      queue.addWith({ afterMs: 50, priority: 1 }, 'a');
      queue.addWith({ afterMs: 30, priority: 0 }, 'a');
      queue.addWith({ afterMs: 70, priority: 5 }, 'a');
      clock.advanceSync(29);
      expect(queue.length).toBe(0);
      clock.advanceSync(1);
      expect(takeAll(queue)).toEqual(['a:5']);
    });

    it('orders items of one priority by the time of becoming ready', () => {
      const { clock, queue } = make();
      queue.addWith({ afterMs: 10 }, 'late');
      queue.add('early');
      clock.advanceSync(10);
      queue.add('latest');
      expect(takeAll(queue)).toEqual(['early:0', 'late:0', 'latest:0']);
    });

    it('takes the smaller of a delay and the delay of the limiter', () => {
      const clock = new FakeClock();
      const rateLimiter = { when: () => 20, forget: () => undefined, numRequeues: () => 0 };
      const queue = create({ clock, rateLimiter });
      queue.addWith({ rateLimited: true, afterMs: 10 }, 'a');
      queue.addWith({ rateLimited: true, afterMs: 30 }, 'b');
      queue.addWith({ rateLimited: true }, 'c');
      clock.advanceSync(10);
      expect(takeAll(queue)).toEqual(['a:0']);
      clock.advanceSync(10);
      expect(takeAll(queue)).toEqual(['b:0', 'c:0']);
    });

    it('starts an item that is worked on with a fresh priority, and keeps its place', () => {
      const { queue } = make();
      queue.addWith({ priority: 9 }, 'a');
      queue.tryGet();
      queue.addWith({ priority: 1 }, 'a', 'b');
      expect(queue.length).toBe(1);
      queue.done('a');
      expect(takeAll(queue)).toEqual(['a:1', 'b:1']);
    });

    it('passes over items that are worked on, also when their priority is raised', () => {
      const { queue } = make();
      queue.add('a');
      queue.tryGet();
      queue.add('a');
      queue.addWith({ priority: 5 }, 'a');
      queue.addWith({ priority: 1 }, 'b');
      expect(queue.tryGetWithPriority()).toMatchObject({ item: 'b', priority: 1 });
      expect(queue.tryGet()).toBe(undefined);
      queue.done('a');
      expect(queue.tryGetWithPriority()).toMatchObject({ item: 'a', priority: 5 });
    });

    it('hands out the most urgent of what was added in one step, also to one who waits', async () => {
      const { queue } = make();
      const waiting = queue.getWithPriority();
      queue.addWith({ priority: 1 }, 'low');
      queue.addWith({ priority: 2 }, 'high');
      expect(await waiting).toMatchObject({ item: 'high', priority: 2 });
    });

    it('collects the distinct reasons of merged adds', () => {
      const { queue } = make();
      queue.addWith({ reason: 'created' }, 'a');
      queue.addWith({ reason: 'child changed' }, 'a');
      queue.addWith({ reason: 'created' }, 'a');
      expect(queue.tryGetWithPriority()?.reasons).toEqual(['created', 'child changed']);
      queue.addWith({ reason: 'again' }, 'a');
      queue.done('a');
      expect(queue.tryGetWithPriority()?.reasons).toEqual(['again']);
      queue.done('a');
      queue.add('a');
      expect(queue.tryGetWithPriority()?.reasons).toEqual([]);
      for (let i = 0; i < 40; i++) queue.addWith({ reason: `reason ${i}` }, 'b');
      expect(queue.tryGetWithPriority()?.reasons).toHaveLength(16);
    });

    it('drains by priority and drops what is not due', async () => {
      const { clock, queue } = make();
      queue.addWith({ priority: 1 }, 'a');
      queue.addWith({ priority: 2 }, 'b');
      queue.addWith({ afterMs: 5 }, 'later');
      const drain = queue.shutDownWithDrain();
      queue.add('refused');
      expect(takeAll(queue)).toEqual(['b:2', 'a:1']);
      await drain;
      expect(clock.pendingTimers).toBe(0);
    });

    it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses the priority %d', (priority) => {
      const { queue } = make();
      expect(() => queue.addWith({ priority }, 'a')).toThrow('priority');
    });

    it('keeps the priority of work that a pool retries', async () => {
      const { clock, queue } = make();
      let fails = true;
      const pool = queue.run({ concurrency: 0 }, () => {
        if (!fails) return;
        fails = false;
        throw new Error('once');
      });
      queue.addWith({ priority: 7 }, 'a');
      pool.concurrency = 1;
      await clock.advance(0);
      expect(fails).toBe(false);
      await pool.stop();
      clock.advanceSync(1_000_000);
      expect(queue.tryGetWithPriority()).toMatchObject({ item: 'a', priority: 7 });
    });
  });
}
