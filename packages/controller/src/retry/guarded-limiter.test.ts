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

  it.each<[number]>([[0], [5]])('takes a delay of %i ms as it is', (delay) => {
    const { reports, fallback, report } = make();
    const limiter = guardedLimiter(
      { when: () => delay, forget: () => undefined, numRequeues: () => 7 },
      { fallback, report },
    );
    expect([limiter.when({ id: 1 }), limiter.numRequeues({ id: 1 }), reports]).toEqual([delay, 7, []]);
  });

  it.each<[unknown, string]>([
    [-1, 'rateLimiter.when returned -1, which is not valid: expected a number of ms ≥ 0'],
    [Number.NaN, 'rateLimiter.when returned NaN, which is not valid'],
    [Infinity, 'rateLimiter.when returned Infinity, which is not valid'],
    ['5', 'rateLimiter.when returned a value of type string, which is not valid'],
    [undefined, 'rateLimiter.when returned undefined, which is not valid'],
  ])('waits as its fallback does for a delay of %o, until the item succeeds', (delay, message) => {
    const { reports, fallback, report } = make();
    fallback.adoptKey?.(key);
    const forgotten: unknown[] = [];
    const limiter = guardedLimiter<{ id: number }>(
      { when: () => delay as number, forget: (item) => void forgotten.push(item), numRequeues: () => 0 },
      { fallback, report },
    );
    const item = { id: 1 };
    expect([limiter.when(item), limiter.when(item)]).toEqual([1, 2]);
    expect(reports.map(String)).toEqual([0, 1].map(() => expect.stringContaining(message)));
    limiter.forget(item);
    expect([forgotten, limiter.when(item)]).toEqual([[item], 1]);
  });

  it('leaves its fallback alone while the limiter answers', () => {
    const { reports, fallback, report } = make();
    const forgotten: unknown[] = [];
    const limiter = guardedLimiter<{ id: number }>(
      { when: () => 1, forget: () => undefined, numRequeues: () => 0 },
      { fallback: { ...fallback, forget: (item) => void forgotten.push(item) }, report },
    );
    limiter.when({ id: 1 });
    limiter.forget({ id: 1 });
    expect([forgotten, reports]).toEqual([[], []]);
  });

  it('reports each call that throws, and answers all the same', () => {
    const { reports, fallback, report } = make();
    fallback.adoptKey?.(key);
    const broken = new Error('broken');
    const fail = (): never => {
      throw broken;
    };
    const item = { id: 1 };
    const limiter = guardedLimiter({ when: fail, forget: fail, numRequeues: fail }, { fallback, report });
    expect([limiter.when(item), limiter.when(item), limiter.numRequeues(item)]).toEqual([1, 2, 2]);
    limiter.forget(item);
    expect([limiter.numRequeues(item), reports]).toEqual([0, Array(5).fill(broken)]);
  });

  it('needs no limiter that takes a key', () => {
    const { reports, report } = make();
    const plain = { when: () => 1, forget: () => undefined, numRequeues: () => 0 };
    guardedLimiter(plain, { fallback: plain, report }).adoptKey?.(key as never);
    expect(reports).toEqual([]);
  });
});
