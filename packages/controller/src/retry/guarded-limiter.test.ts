import { createPriorityQueue, exponentialRateLimiter } from '@kctl/workqueue';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { guardedLimiter } from './guarded-limiter.js';

describe('guardedLimiter', () => {
  const make = () => {
    const reports: unknown[] = [];
    const fallback = exponentialRateLimiter<{ id: number }>({ baseMs: 1 });
    return { reports, fallback, report: (error: unknown) => void reports.push(error) };
  };
  const key = ({ id }: { readonly id: number }): number => id;

  it('passes the key of the queue on to the limiter and its fallback', () => {
    const { reports, fallback, report } = make();
    const rateLimiter = guardedLimiter(exponentialRateLimiter<{ id: number }>({ baseMs: 10 }), { fallback, report });
    const queue = createPriorityQueue<{ id: number }>({ key, clock: new FakeClock(), rateLimiter });
    queue.addRateLimited({ id: 1 });
    expect([queue.numRequeues({ id: 1 }), queue.delayed, reports]).toEqual([1, 1, []]);
  });

  it('reports a limiter that refuses the key', () => {
    const { reports, fallback, report } = make();
    const broken = new Error('broken');
    const limiter = {
      ...exponentialRateLimiter<{ id: number }>({ key }),
      adoptKey: () => {
        throw broken;
      },
    };
    createPriorityQueue<{ id: number }>({ key, rateLimiter: guardedLimiter(limiter, { fallback, report }) });
    expect(reports).toEqual([broken]);
  });
});
