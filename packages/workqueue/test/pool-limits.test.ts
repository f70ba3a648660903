// Time limits and start rates of pools, backing queues, numbered pieces.
import { isDeadlineExceeded } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createPriorityQueue, createRateLimitingQueue, createWorkQueue, parallelizeUntil } from '../src/index.js';
import type { BackingQueue } from '../src/index.js';

describe('timeoutMs of a pool', () => {
  it('aborts the signal of work that takes longer, which then has failed', async () => {
    const clock = new FakeClock();
    const queue = createRateLimitingQueue({ clock });
    const failures: unknown[] = [];
    let runs = 0;
    const onError = (error: unknown): 'retry' => {
      failures.push(error);
      return 'retry';
    };
    const pool = queue.run({ timeoutMs: 100, onError }, async (_key, { signal }) => {
      if (++runs > 1) return;
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')));
      });
    });
    queue.add('a');
    await clock.advance(99);
    expect(failures).toEqual([]);
    await clock.advance(1);
    expect(failures.map(isDeadlineExceeded)).toEqual([true]);
    expect(String(failures[0])).toContain('work exceeded its timeoutMs of 100 ms');
    await clock.advance(5);
    expect(runs).toBe(2);
    await Promise.all([queue.shutDownWithDrain(), pool.ended]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves work that ends in time alone, also synchronous work, and keeps its key where it is not heeded', async () => {
    const clock = new FakeClock();
    const queue = createWorkQueue({ clock });
    const signals: AbortSignal[] = [];
    const slow: PromiseWithResolvers<void> = Promise.withResolvers();
    const pool = queue.run({ concurrency: 2, timeoutMs: 10 }, (key, { signal }) => {
      signals.push(signal);
      return key === 'slow' ? slow.promise : undefined;
    });
    queue.add('quick');
    queue.add('slow');
    await clock.advance(50);
    queue.add('slow');
    await settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(pool.active).toBe(1);
    slow.resolve();
    await queue.waitUntilIdle();
    expect(signals).toHaveLength(3);
    await pool.stop();
  });

  it('gives the key back where the pool is stopped, as without a limit', async () => {
    const clock = new FakeClock();
    const queue = createRateLimitingQueue({ clock });
    const abort = new AbortController();
    const pool = queue.run({ timeoutMs: 1_000, signal: abort.signal }, async (_key, { signal }) => {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    queue.add('a');
    await settle();
    abort.abort();
    await pool.ended;
    expect([queue.length, queue.numRequeues('a'), clock.pendingTimers]).toEqual([1, 0, 0]);
  });
});

describe('startRate of a pool', () => {
  it('starts work at the rate, and leaves what has to wait in the queue', async () => {
    const clock = new FakeClock();
    const queue = createPriorityQueue({ clock });
    const started: string[] = [];
    const pool = queue.run({ concurrency: 10, startRate: { perSecond: 10, burst: 2 } }, (key) => started.push(key));
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    await settle();
    expect(started).toEqual(['a', 'b']);
    queue.addWith({ priority: 1 }, 'urgent');
    await clock.advance(100);
    expect(started).toEqual(['a', 'b', 'urgent']);
    await clock.advance(200);
    expect(started).toEqual(['a', 'b', 'urgent', 'c', 'd']);
    expect(clock.pendingTimers).toBe(0);
    queue.add('e');
    await clock.advance(50);
    await pool.stop();
    expect([queue.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('takes no token for a queue that is empty', async () => {
    const clock = new FakeClock();
    const queue = createWorkQueue({ clock });
    const started: string[] = [];
    const pool = queue.run({ startRate: { perSecond: 1 } }, (key) => started.push(key));
    await settle();
    queue.add('a');
    await settle();
    expect(started).toEqual(['a']);
    await pool.stop();
  });
});

it.each([
  [{ timeoutMs: 0 }, 'timeoutMs is 0'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs is NaN'],
  [{ startRate: { perSecond: 0 } }, 'startRate.perSecond is 0'],
  [{ startRate: 5 }, 'startRate is 5'],
  [{ startRate: null }, 'startRate is null'],
  [{ startRate: { perSecond: 5, bust: 1 } }, 'unknown option "bust": did you mean "burst"?'],
])('refuses %o', (options, message) => {
  expect(() => createWorkQueue().run(options as never, () => undefined)).toThrow(message);
});

class Stack implements BackingQueue<string> {
  readonly items: string[] = [];
  readonly touched: string[] = [];

  get length(): number {
    return this.items.length;
  }

  push(item: string): void {
    this.items.push(item);
  }

  pop(): string | undefined {
    return this.items.pop();
  }

  touch(item: string): void {
    this.touched.push(item);
  }

  delete(item: string): void {
    this.items.splice(this.items.indexOf(item), 1);
  }

  *[Symbol.iterator](): Generator<string, undefined> {
    yield* this.items.toReversed();
    return undefined;
  }
}

describe('a backing queue', () => {
  it('decides the order; merging and one worker per key stay with the queue', async () => {
    const stack = new Stack();
    const queue = createRateLimitingQueue({ queue: stack, clock: new FakeClock() });
    for (const key of ['a', 'b', 'c', 'b']) queue.add(key);
    expect(stack.touched).toEqual(['b']);
    expect(queue.entries().map(({ key }) => key)).toEqual(['c', 'b', 'a']);
    expect(queue.tryGet()).toBe('c');
    queue.add('c');
    queue.add('c');
    // It does not hold what is worked on.
    expect([stack.items, stack.touched]).toEqual([['a', 'b'], ['b']]);
    queue.done('c');
    expect([queue.delete('b'), queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual([true, 'c', 'a', undefined]);
    queue.done('c');
    queue.done('a');
    await queue.shutDownWithDrain();
  });

  it('is not told of what is worked on, however often that is added', async () => {
    const stack = new Stack();
    const queue = createWorkQueue({ queue: stack });
    queue.add('a');
    expect(queue.tryGet()).toBe('a');
    for (let count = 0; count < 3; count++) queue.add('a');
    expect([stack.items, stack.touched]).toEqual([[], []]);
    queue.done('a');
    queue.add('a');
    expect([stack.items, stack.touched]).toEqual([['a'], ['a']]);
  });

  it('may read on while it hands out: each call has its item, in order', async () => {
    const stack = new Stack();
    const queue = createWorkQueue({ queue: stack });
    for (const key of ['c', 'b', 'a']) queue.add(key);
    const items = queue.items();
    const pop = stack.pop.bind(stack);
    const more: Promise<IteratorResult<string, undefined>>[] = [];
    stack.pop = () => {
      if (more.length < 2) more.push(items.next());
      return pop();
    };
    const first = await items.next();
    const seen = [first, ...(await Promise.all(more))].map(({ value }) => value);
    expect([seen, queue.length]).toEqual([['a', 'b', 'c'], 0]);
    await items.return?.();
    await queue.shutDownWithDrain();
  });

  it('that fails costs the calls that asked it, and no key', async () => {
    const stack = new Stack();
    let isBroken = true;
    const pop = stack.pop.bind(stack);
    stack.pop = () => {
      if (isBroken) throw new Error('broken');
      return pop();
    };
    const queue = createWorkQueue({ queue: stack });
    queue.add('a');
    expect(() => queue.tryGet()).toThrow('broken');
    await expect(queue.get()).rejects.toThrow('broken');
    await expect(queue.items().next()).rejects.toThrow('broken');
    await expect(queue.run({}, () => undefined).ended).rejects.toThrow('broken');
    isBroken = false;
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    isBroken = true;
    const waiting = queue.get();
    const iterating = queue.items().next();
    queue.add('b');
    await expect(waiting).rejects.toThrow('broken');
    await expect(iterating).rejects.toThrow('broken');
    isBroken = false;
    expect(await queue.get()).toBe('b');
  });

  it('that fails once ends the iteration that waited, and keeps the key for the next', async () => {
    const stack = new Stack();
    const pop = stack.pop.bind(stack);
    let failures = 1;
    stack.pop = () => {
      if (failures-- > 0) throw new Error('broken');
      return pop();
    };
    const queue = createWorkQueue({ queue: stack });
    const items = queue.items();
    const waiting = [items.next(), items.next()];
    queue.add('a');
    await expect(waiting[0]).rejects.toThrow('broken');
    expect(await waiting[1]).toEqual({ done: true, value: undefined });
    expect(queue.tryGet()).toBe('a');
  });

  it('that refuses a key loses this one alone, and takes it when it is added again', async () => {
    const stack = new Stack();
    const clock = new FakeClock();
    let refused = 'a';
    const push = stack.push.bind(stack);
    stack.push = (item) => {
      if (item === refused) throw new Error('broken');
      push(item);
    };
    const queue = createRateLimitingQueue({ queue: stack, clock });
    expect(() => queue.add('a')).toThrow('broken');
    expect([queue.has('a'), queue.length, queue.entries()]).toEqual([false, 0, []]);
    refused = '';
    queue.add('a');
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    queue.addAfter('a', 5);
    refused = 'a';
    expect(() => queue.add('a')).toThrow('broken');
    expect([queue.length, queue.delayed]).toEqual([0, 1]);
    refused = '';
    clock.advanceSync(5);
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    refused = 'a';
    for (const key of ['b', 'a', 'c']) queue.addAfter(key, 10);
    expect(() => clock.advanceSync(10)).toThrow('broken');
    clock.advanceSync(0);
    expect([queue.length, queue.delayed]).toEqual([2, 0]);
    expect([queue.tryGet(), queue.tryGet()]).toEqual(['c', 'b']);
    refused = 'b';
    queue.add('b');
    const drained = queue.shutDownWithDrain();
    queue.done('c');
    expect(() => queue.done('b')).toThrow('broken');
    await drained;
    expect(clock.pendingTimers).toBe(0);
  });

  it('that refuses a key leaves its place in a bounded queue to another, unless it is delayed', () => {
    const stack = new Stack();
    let isBroken = true;
    const push = stack.push.bind(stack);
    stack.push = (item) => {
      if (isBroken) throw new Error('broken');
      push(item);
    };
    const queue = createRateLimitingQueue({ queue: stack, clock: new FakeClock(), bound: { maxPending: 1 } });
    expect(() => queue.add('a')).toThrow('broken');
    queue.addAfter('b', 10);
    expect(() => queue.add('b')).toThrow('broken');
    isBroken = false;
    expect(() => queue.add('c')).toThrow('maxPending = 1');
    expect(queue.delete('b')).toBe(true);
    queue.add('c');
    expect(queue.tryGet()).toBe('c');
  });

  it.each([false, true])(
    'that does not take a key back ends the pool with its error (asynchronous work: %s)',
    async (isAsync) => {
      const stack = new Stack();
      const push = stack.push.bind(stack);
      let isBroken = false;
      stack.push = (item) => {
        if (isBroken) throw new Error('broken');
        push(item);
      };
      const queue = createWorkQueue({ queue: stack });
      queue.add('a');
      const pool = queue.run({}, (key) => {
        queue.add(key);
        isBroken = true;
        return isAsync ? Promise.resolve() : undefined;
      });
      await expect(pool.ended).rejects.toThrow('broken');
      expect([queue.processing, queue.length, pool.active]).toEqual([0, 0, 0]);
      isBroken = false;
      queue.add('a');
      const items = queue.items();
      expect(await items.next()).toEqual({ done: false, value: 'a' });
      queue.add('a');
      isBroken = true;
      await expect(items.next()).rejects.toThrow('broken');
      expect(await items.next()).toEqual({ done: true, value: undefined });
      isBroken = false;
      queue.add('b');
      expect(await queue.get()).toBe('b');
    },
  );

  it('that returns what was not pushed, or has no delete, is told so', () => {
    const queue = createWorkQueue({ queue: { length: 0, push: () => undefined, pop: () => 'other' } });
    queue.add('a');
    expect(() => queue.tryGet()).toThrow('the result of queue.pop is "other"');
    expect(() => queue.delete('a')).toThrow('give the custom queue a method delete(item)');
    expect(queue.has('a')).toBe(true);
  });

  it('is refused where it lacks a method, and by priority queues', () => {
    expect(() => createWorkQueue({ queue: { push: () => undefined } as never })).toThrow('queue.pop is undefined');
    expect(() => createPriorityQueue({ queue: new Stack() } as never)).toThrow(
      'a priority queue has an order of its own',
    );
  });
});

describe('parallelizeUntil', () => {
  it('works on each piece once, in ascending order, some at a time', async () => {
    const pieces: number[] = [];
    let active = 0;
    let most = 0;
    await parallelizeUntil({ workers: 3, pieces: 20, chunkSize: 2 }, async (piece) => {
      pieces.push(piece);
      most = Math.max(most, ++active);
      await settle();
      active--;
    });
    expect([pieces.toSorted((a, b) => a - b), most]).toEqual([Array.from({ length: 20 }, (_, piece) => piece), 3]);
  });

  it('starts nothing more after a failure, aborts what is in progress, and waits for it', async () => {
    const ended: number[] = [];
    const run = parallelizeUntil({ workers: 2, pieces: 100 }, async (piece, { signal }) => {
      if (piece === 1) throw new Error('piece 1');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      ended.push(piece);
    });
    await expect(run).rejects.toThrow('piece 1');
    expect(ended).toEqual([0]);
  });

  it('ends with its signal', async () => {
    const abort = new AbortController();
    const seen: number[] = [];
    const run = parallelizeUntil({ workers: 1, pieces: 10, signal: abort.signal }, (piece) => {
      seen.push(piece);
      if (piece === 2) abort.abort(new Error('enough'));
    });
    await expect(run).rejects.toThrow('enough');
    expect(seen).toEqual([0, 1, 2]);
    await expect(parallelizeUntil({ workers: 0, pieces: 1 }, () => undefined)).rejects.toThrow('workers is 0');
    await parallelizeUntil({ workers: 5, pieces: 0 }, () => expect.unreachable());
  });
});
