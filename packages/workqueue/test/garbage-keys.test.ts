// A key function that returns garbage, and garbage items: one error each, and nothing else is touched.
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  exponentialRateLimiter,
  isQueueArgumentError,
} from '../src/index.js';
import type { WorkQueue } from '../src/index.js';

interface Item {
  readonly id: unknown;
}

const key = ({ id }: Item): never => id as never;
const flavours: Readonly<Record<string, () => WorkQueue<Item>>> = {
  createWorkQueue: () => createWorkQueue<Item>({ key }),
  createDelayingQueue: () => createDelayingQueue<Item>({ key, clock: new FakeClock() }),
  createRateLimitingQueue: () => createRateLimitingQueue<Item>({ key, clock: new FakeClock() }),
  createPriorityQueue: () => createPriorityQueue<Item>({ key, clock: new FakeClock() }),
  'createPriorityQueue with ageing': () =>
    createPriorityQueue<Item>({ key, clock: new FakeClock(), ageing: { stepMs: 10 } }),
};
const thrownBy = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};
const takeAll = (queue: WorkQueue<Item>): unknown[] => {
  const taken: unknown[] = [];
  for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
    taken.push(item.id);
    queue.done(item);
  }
  return taken;
};

describe.each(Object.entries(flavours))('%s with a key function', (_name, create) => {
  it.each([undefined, null, Number.NaN, {}, [], true, Symbol('s'), 1n, () => 'a', Promise.resolve('a')])(
    'refuses the key %s and leaves the others alone',
    (id) => {
      const queue = create();
      // A freed slot, one that is being worked on, and one that waits: none of them is taken for the garbage.
      for (const good of ['done', 'held', 'waits']) queue.add({ id: good });
      const [done, held] = [queue.tryGet(), queue.tryGet()];
      if (done !== undefined) queue.done(done);
      const error = thrownBy(() => queue.add({ id }));
      expect(isQueueArgumentError(error)).toBe(true);
      expect(String(error)).toContain('the result of the key function is');
      expect(isQueueArgumentError(thrownBy(() => queue.done({ id })))).toBe(true);
      expect([queue.length, queue.processing]).toEqual([1, 1]);
      if (held !== undefined) {
        queue.add(held);
        queue.done(held);
      }
      expect(takeAll(queue)).toEqual(['waits', 'held']);
      expect([queue.length, queue.processing]).toEqual([0, 0]);
    },
  );

  it('keeps keys apart whose releases move the others, with garbage in between', () => {
    const queue = create();
    for (let round = 0; round < 3; round++) {
      for (let number = 0; number < 3_000; number++) {
        queue.add({ id: `${round}-${number}` });
        if (number % 100 === 0) expect(isQueueArgumentError(thrownBy(() => queue.add({ id: undefined })))).toBe(true);
      }
      expect(takeAll(queue)).toHaveLength(3_000);
    }
  });

  it('refuses the item undefined', () => {
    const queue = create();
    expect(isQueueArgumentError(thrownBy(() => queue.add(undefined as never)))).toBe(true);
    expect([queue.length, queue.processing]).toEqual([0, 0]);
  });

  it('passes on what the key function throws', () => {
    const queue = createWorkQueue<Item>({
      key: () => {
        throw new Error('no such field');
      },
    });
    expect(String(thrownBy(() => queue.add({ id: 'a' })))).toContain('no such field');
    expect(queue.length).toBe(0);
  });
});

describe('PriorityQueue.addWith', () => {
  it('adds the good items of a call and refuses the others', () => {
    const queue = createPriorityQueue<Item>({ key, clock: new FakeClock() });
    const error = thrownBy(() => queue.addWith({ priority: 1 }, { id: 'a' }, { id: Number.NaN }, { id: 'b' }));
    expect(isQueueArgumentError(error)).toBe(true);
    expect(takeAll(queue)).toEqual(['a', 'b']);
  });
});

describe('a rate limiter without a key of its own', () => {
  it.each([
    ['createRateLimitingQueue', createRateLimitingQueue<Item>],
    ['createPriorityQueue', createPriorityQueue<Item>],
  ] as const)('goes by the key of its %s', async (_name, create) => {
    const clock = new FakeClock();
    const rateLimiter = exponentialRateLimiter<Item>({ baseMs: 10 });
    const queue = create({ key, clock, rateLimiter });
    const attempts: number[] = [];
    const pool = queue.run(
      {
        onError: (_error, _item, attempt) => {
          attempts.push(attempt);
          return 'retry';
        },
      },
      () => {
        if (attempts.length < 3) throw new Error('not yet');
      },
    );
    queue.add({ id: 'a' });
    await clock.advance(1_000);
    expect([attempts, queue.numRequeues({ id: 'a' })]).toEqual([[1, 2, 3], 0]);
    await pool.stop();
  });

  it('keeps a key function of its own', () => {
    const rateLimiter = exponentialRateLimiter<Item>({ key: () => 'all', baseMs: 1 });
    const queue = createRateLimitingQueue<Item>({ key, clock: new FakeClock(), rateLimiter });
    queue.addRateLimited({ id: 'a' });
    expect(queue.numRequeues({ id: 'b' })).toBe(1);
  });
});
