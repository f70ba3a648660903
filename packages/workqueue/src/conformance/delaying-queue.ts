import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { DelayingQueue } from '../work-queue.js';
import type { QueueFactory } from './setup.js';

/** The behaviour of a {@link DelayingQueue}. Cases after client-go's `delaying_queue_test.go`. */
export function describeDelayingQueue(name: string, create: QueueFactory<DelayingQueue<string>>): void {
  const make = (): { clock: FakeClock; queue: DelayingQueue<string> } => {
    const clock = new FakeClock();
    return { clock, queue: create({ clock }) };
  };
  const takeAll = (queue: DelayingQueue<string>): string[] => {
    const taken: string[] = [];
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
      taken.push(item);
      queue.done(item);
    }
    return taken;
  };

  describe(`${name} is a DelayingQueue`, () => {
    it('hands out an item when its time has come, not before', () => {
      const { clock, queue } = make();
      queue.addAfter('a', 50);
      expect([queue.length, queue.delayed]).toEqual([0, 1]);
      clock.advanceSync(49);
      expect(queue.tryGet()).toBe(undefined);
      clock.advanceSync(1);
      expect([queue.length, queue.delayed]).toEqual([1, 0]);
      expect(queue.tryGet()).toBe('a');
    });

    it('keeps the earliest of several delays of one item', () => {
      const { clock, queue } = make();
      queue.addAfter('a', 50);
      queue.addAfter('a', 30);
      queue.addAfter('a', 70);
      expect(queue.delayed).toBe(1);
      clock.advanceSync(30);
      expect(takeAll(queue)).toEqual(['a']);
      clock.advanceSync(100);
      expect(takeAll(queue)).toEqual([]);
    });

    it('orders by time, and equal times by their adds', () => {
      const { clock, queue } = make();
      queue.addAfter('c', 30);
      queue.addAfter('a', 10);
      queue.addAfter('b1', 20);
      queue.addAfter('b2', 20);
      queue.addAfter('b3', 20);
      clock.advanceSync(100);
      expect(takeAll(queue)).toEqual(['a', 'b1', 'b2', 'b3', 'c']);
    });

    it.each([0, -1])('adds at once for a delay of %d ms', (delayMs) => {
      const { clock, queue } = make();
      queue.addAfter('a', delayMs);
      expect(queue.length).toBe(1);
      expect(clock.pendingTimers).toBe(0);
    });

    it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses a delay of %d ms', (delayMs) => {
      const { queue } = make();
      expect(() => queue.addAfter('a', delayMs)).toThrow('delayMs');
      expect(queue.delayed).toBe(0);
    });

    it('wakes a get when a delayed item falls due', async () => {
      const { clock, queue } = make();
      const waiting = queue.get();
      queue.addAfter('a', 10);
      await clock.advance(10);
      expect(await waiting).toBe('a');
    });

    it('merges a delayed item that falls due with one that waits', () => {
      const { clock, queue } = make();
      queue.addAfter('a', 10);
      clock.advanceSync(10);
      queue.add('a');
      expect(takeAll(queue)).toEqual(['a']);
    });

    it('hands out an item that falls due while it is worked on after done', () => {
      const { clock, queue } = make();
      queue.add('a');
      queue.tryGet();
      queue.addAfter('a', 10);
      clock.advanceSync(10);
      expect(queue.tryGet()).toBe(undefined);
      queue.done('a');
      expect(queue.tryGet()).toBe('a');
    });

    it('keeps one timer, and none when nothing is delayed', () => {
      const { clock, queue } = make();
      for (let i = 0; i < 100; i++) queue.addAfter(`item-${i}`, 1000 - i);
      expect(clock.pendingTimers).toBe(1);
      expect(clock.nextTimerInMs).toBe(901);
      clock.advanceSync(1000);
      expect(clock.pendingTimers).toBe(0);
      expect(queue.length).toBe(100);
    });

    it('keeps delays beyond 2^31-1 ms', () => {
      const { clock, queue } = make();
      const delayMs = 2 ** 31 + 5;
      queue.addAfter('a', delayMs);
      clock.advanceSync(delayMs - 1);
      expect(queue.length).toBe(0);
      clock.advanceSync(1);
      expect(queue.length).toBe(1);
    });

    it.each(['shutDown', 'shutDownWithDrain'] as const)(
      'drops what is not due on %s, and its timer',
      async (method) => {
        const { clock, queue } = make();
        queue.addAfter('a', 10);
        await queue[method]();
        queue.addAfter('b', 10);
        expect([clock.pendingTimers, queue.delayed]).toEqual([0, 0]);
        await clock.advance(10);
        expect(await queue.get()).toBe(undefined);
      },
    );

    it('hands out a debounced item after a quiet period', () => {
      const { clock, queue } = make();
      const debounce = { quietMs: 10, maxMs: 100 };
      queue.addDebounced('a', debounce);
      clock.advanceSync(9);
      queue.addDebounced('a', debounce);
      clock.advanceSync(9);
      expect(queue.length).toBe(0);
      clock.advanceSync(1);
      expect(takeAll(queue)).toEqual(['a']);
    });

    it('hands out a busy debounced item at its ceiling', () => {
      const { clock, queue } = make();
      const debounce = { quietMs: 10, maxMs: 25 };
      for (let step = 0; step < 5; step++) {
        queue.addDebounced('a', debounce);
        clock.advanceSync(5);
      }
      expect(takeAll(queue)).toEqual(['a']);
      queue.addDebounced('a', debounce);
      clock.advanceSync(9);
      expect(queue.length).toBe(0);
      clock.advanceSync(1);
      expect(queue.length).toBe(1);
    });

    it('never postpones a plain delay by a debounced add', () => {
      const { clock, queue } = make();
      queue.addAfter('a', 12);
      queue.addDebounced('a', { quietMs: 10, maxMs: 100 });
      clock.advanceSync(8);
      queue.addDebounced('a', { quietMs: 10, maxMs: 100 });
      clock.advanceSync(4);
      expect(takeAll(queue)).toEqual(['a']);
      queue.addDebounced('b', { quietMs: 50, maxMs: 100 });
      queue.addAfter('b', 5);
      queue.addDebounced('b', { quietMs: 50, maxMs: 100 });
      clock.advanceSync(5);
      expect(takeAll(queue)).toEqual(['b']);
    });

    it.each([
      { name: 'the earliest of several delays', delays: [110, 300, 200], quietMs: 500, maxMs: 5_000, at: 110 },
      { name: 'its own ceiling, however late a delay', delays: [1_000], quietMs: 60, maxMs: 120, at: 120 },
    ])('moves a debounced add not past $name', ({ delays, quietMs, maxMs, at }) => {
      const { clock, queue } = make();
      if (maxMs < 1_000) queue.addDebounced('a', { quietMs, maxMs });
      for (const delayMs of delays) queue.addAfter('a', delayMs);
      for (let step = 0; step < 2; step++) {
        clock.advanceSync(50);
        queue.addDebounced('a', { quietMs, maxMs });
      }
      clock.advanceSync(at - 101);
      expect([queue.length, queue.delayed]).toEqual([0, 1]);
      clock.advanceSync(1);
      expect([queue.length, queue.delayed]).toEqual([1, 0]);
    });

    it('serves a pool with items that fall due', async () => {
      const { clock, queue } = make();
      const seen: string[] = [];
      const pool = queue.run({}, (item) => void seen.push(item));
      queue.addAfter('b', 20);
      queue.addAfter('a', 10);
      await clock.advance(20);
      expect(seen).toEqual(['a', 'b']);
      queue.shutDown();
      await pool.ended;
      await settle();
      expect(clock.pendingTimers).toBe(0);
    });
  });
}
