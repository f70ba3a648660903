import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { RateLimiter } from '../limiters/rate-limiter.js';
import type { RateLimitingQueue } from '../work-queue.js';
import type { QueueFactory } from './setup.js';

/** The behaviour of a {@link RateLimitingQueue}. The factory has to use the given limiter. */
export function describeRateLimitingQueue(name: string, create: QueueFactory<RateLimitingQueue<string>>): void {
  const make = (): { clock: FakeClock; queue: RateLimitingQueue<string>; errors: unknown[] } => {
    const clock = new FakeClock();
    const failures = new Map<string, number>();
    const errors: unknown[] = [];
    const rateLimiter: RateLimiter<string> = {
      when(item, cause) {
        errors.push(cause?.error);
        const count = (failures.get(item) ?? 0) + 1;
        failures.set(item, count);
        return count * 10;
      },
      forget: (item) => void failures.delete(item),
      numRequeues: (item) => failures.get(item) ?? 0,
    };
    return { clock, queue: create({ clock, rateLimiter }), errors };
  };

  describe(`${name} is a RateLimitingQueue`, () => {
    it('adds after the delay of the limiter, which grows until the item is forgotten', () => {
      const { clock, queue } = make();
      for (const delayMs of [10, 20, 30]) {
        queue.addRateLimited('a');
        clock.advanceSync(delayMs - 1);
        expect(queue.tryGet()).toBe(undefined);
        clock.advanceSync(1);
        expect(queue.tryGet()).toBe('a');
        queue.done('a');
      }
      expect(queue.numRequeues('a')).toBe(3);
      queue.forget('a');
      expect(queue.numRequeues('a')).toBe(0);
      queue.addRateLimited('a');
      clock.advanceSync(10);
      expect(queue.tryGet()).toBe('a');
    });

    it('tells the limiter the failure', () => {
      const { queue, errors } = make();
      const failure = new Error('throttled');
      queue.addRateLimited('a', { error: failure });
      expect(errors).toEqual([failure]);
    });

    it('does not count a retry after shutdown', () => {
      const { queue } = make();
      queue.shutDown();
      queue.addRateLimited('a');
      expect(queue.numRequeues('a')).toBe(0);
      expect(queue.delayed).toBe(0);
    });

    it('does not end the work by forget', () => {
      const { queue } = make();
      queue.add('a');
      queue.tryGet();
      queue.forget('a');
      expect(queue.processing).toBe(1);
    });

    it('retries failed work of a pool rate limited, and forgets it after success', async () => {
      const { clock, queue, errors } = make();
      const failure = new Error('not yet');
      const attempts: number[] = [];
      let left = 2;
      const work = (): void => {
        if (left-- > 0) throw failure;
      };
      const pool = queue.run(
        {
          onError: (error, item, attempt) => {
            expect([error, item]).toEqual([failure, 'a']);
            attempts.push(attempt);
            return 'retry';
          },
        },
        work,
      );
      queue.add('a');
      await clock.advance(10);
      expect(queue.numRequeues('a')).toBe(2);
      await clock.advance(20);
      expect(attempts).toEqual([1, 2]);
      expect(errors).toEqual([failure, failure]);
      expect([queue.numRequeues('a'), queue.processing, queue.delayed]).toEqual([0, 0, 0]);
      await pool.stop();
    });

    it('gives up failed work whose verdict is drop', async () => {
      const { clock, queue } = make();
      const pool = queue.run({ onError: (_error, _item, attempt) => (attempt < 2 ? 'retry' : 'drop') }, () =>
        Promise.reject(new Error('never')),
      );
      queue.add('a');
      await clock.advance(100);
      expect([queue.numRequeues('a'), queue.processing, queue.delayed, queue.length]).toEqual([0, 0, 0, 0]);
      await pool.stop();
    });

    it('puts back work that the end of the pool interrupted, without counting a failure', async () => {
      const { clock, queue } = make();
      const abort = new AbortController();
      const pool = queue.run(
        { signal: abort.signal },
        (_item, { signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')));
          }),
      );
      queue.add('a');
      await clock.advance(0);
      expect(queue.processing).toBe(1);
      abort.abort();
      await pool.ended;
      expect([queue.numRequeues('a'), queue.processing, queue.length]).toEqual([0, 0, 1]);
    });
  });
}
