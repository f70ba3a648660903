import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { FakeClock, settle } from '@kctl/wait/testing';
import { createPriorityQueue } from '@kctl/workqueue';
import { describe, expect, it, vi } from 'vitest';
import type { ReconcileQueue } from './reconcile-queue.js';
import { WorkerPool } from './worker-pool.js';

/** A pool whose work is ended by the test. */
function open(
  concurrency: number,
  over: Partial<ReconcileQueue<string>> = {},
  check: (item: string) => void = () => undefined,
) {
  const clock = new FakeClock();
  const queue = createPriorityQueue({ clock });
  const given: ReconcileQueue<string> = {
    addWith: (options, ...items) => queue.addWith(options, ...items),
    getWithPriority: (options) => queue.getWithPriority(options),
    tryGetWithPriority: () => queue.tryGetWithPriority(),
    done: (item) => queue.done(item),
    forget: (item) => queue.forget(item),
    shutDown: () => queue.shutDown(),
    get length() {
      return queue.length;
    },
    ...over,
  };
  const running = new Map<string, () => void>();
  const begun: string[] = [];
  const pool = new WorkerPool<string>({
    queue: given,
    concurrency,
    clock,
    work: ({ item }) => {
      check(item);
      begun.push(item);
      return new Promise<void>((resolve) => running.set(item, resolve)).then(() => {
        running.delete(item);
        queue.done(item);
      });
    },
  });
  const stop = new AbortController();
  let outcome: unknown = 'runs';
  const run = (): void => {
    pool.run(stop.signal).then(
      () => (outcome = 'ended'),
      (error: unknown) => (outcome = error),
    );
  };
  const end = async (item: string): Promise<void> => {
    running.get(item)?.();
    await settle();
  };
  return { pool, queue, running, begun, stop, run, end, outcome: () => outcome };
}

const broken = new Error('the queue is broken');

describe('WorkerPool', () => {
  it.each([
    ['getWithPriority', { getWithPriority: () => Promise.resolve(null as never) }],
    ['tryGetWithPriority', { tryGetWithPriority: () => 5 as never }],
  ])('ends if %s of the queue returns no item, instead of holding the event loop', async (_method, over) => {
    const { run, outcome } = open(1, over);
    run();
    await settle();
    expect(String(outcome())).toMatch(
      /^TypeError: the queue returned (?:null|a value of type number): expected \{ item/,
    );
  });

  it('takes nothing before it runs, whatever its limit becomes', async () => {
    const t = open(1);
    t.queue.add('a');
    t.pool.concurrency = 3;
    await settle();
    expect(t.begun).toEqual([]);
    t.run();
    await settle();
    expect(t.begun).toEqual(['a']);
  });

  it('has as many workers as its limit allows at each moment', async () => {
    const t = open(2);
    for (const item of ['a', 'b', 'c', 'd', 'e']) t.queue.add(item);
    t.run();
    await settle();
    expect(t.begun).toEqual(['a', 'b']);
    t.pool.concurrency = 3;
    expect(t.begun).toEqual(['a', 'b', 'c']);
    t.pool.concurrency = 1;
    await t.end('a');
    await t.end('b');
    expect(t.begun).toEqual(['a', 'b', 'c']);
    await t.end('c');
    expect(t.begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('puts back what it waited for while its limit is lower: it waits in the queue, once', async () => {
    const t = open(2);
    t.queue.add('a');
    t.run();
    await settle();
    t.pool.concurrency = 1;
    t.queue.addWith({ priority: 7, reason: 'test' }, 'b'); // taken: the pool has waited for it
    t.queue.add('b');
    await settle();
    expect([t.begun, t.queue.length, t.queue.delayed]).toEqual([['a'], 1, 0]);
    expect(t.queue.tryGetWithPriority()).toEqual({ item: 'b', priority: 7, reasons: ['test'] });
    t.queue.add('b');
    t.queue.done('b');
    t.pool.concurrency = 2;
    await settle();
    expect([t.begun, t.queue.length]).toEqual([['a', 'b'], 0]);
    t.stop.abort();
    for (const item of ['a', 'b']) await t.end(item);
    expect(t.outcome()).toBe('ended');
  });

  it('leaves what comes at its stop in the queue', async () => {
    const t = open(2);
    t.queue.add('a');
    t.run();
    await settle();
    t.queue.add('b'); // taken, and not begun yet
    t.stop.abort();
    await settle();
    expect([t.outcome(), t.queue.length]).toEqual(['runs', 1]);
    await t.end('a');
    expect([t.outcome(), t.begun]).toEqual(['ended', ['a']]);
  });

  it('works in the async context of its run, whoever changes its limit', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const t = open(0, {}, () => void seen.push(context.getStore()));
    context.run('leader', () => t.run());
    t.queue.add('a');
    await settle();
    context.run('outside', () => (t.pool.concurrency = 1));
    await t.end('a');
    t.queue.add('b');
    await settle();
    await t.end('b');
    expect([t.begun, seen]).toEqual([
      ['a', 'b'],
      ['leader', 'leader'],
    ]);
    t.stop.abort();
    await settle();
    expect(t.outcome()).toBe('ended');
  });

  it('ends at once where it is stopped before it runs', async () => {
    const t = open(1);
    t.queue.add('a');
    t.stop.abort();
    t.run();
    await settle();
    expect([t.outcome(), t.begun, t.queue.length]).toEqual(['ended', [], 1]);
  });

  it('ends with its queue, after the work, and leaves no listener', async () => {
    const t = open(2);
    t.queue.add('a');
    t.run();
    await settle();
    t.queue.shutDown();
    await settle();
    expect(t.outcome()).toBe('runs');
    await t.end('a');
    expect(t.outcome()).toBe('ended');
    expect(getEventListeners(t.stop.signal, 'abort')).toEqual([]);
  });

  it.each<[string, Partial<ReconcileQueue<string>>]>([
    ['rejects', { getWithPriority: () => Promise.reject(broken) }],
    [
      'throws in get',
      {
        getWithPriority: () => {
          throw broken;
        },
      },
    ],
  ])('fails after the work with a queue that %s', async (_how, over) => {
    const t = open(2, over);
    t.queue.add('a');
    t.run();
    await settle();
    expect([t.outcome(), t.begun]).toEqual(['runs', ['a']]);
    await t.end('a');
    expect(t.outcome()).toBe(broken);
  });

  it.each([undefined, { item: 'a', priority: 0, reasons: [] }])(
    'fails with a queue that returns %o in place of a promise',
    async (given) => {
      const t = open(1, { getWithPriority: () => given as never });
      t.run();
      await settle();
      expect(String(t.outcome())).toMatch(/^TypeError: getWithPriority of the queue returned .*: expected a promise$/);
      expect(t.begun).toEqual([]);
    },
  );

  it('works with a queue whose promise calls back at once', async () => {
    let waits = 0;
    const item = { item: 'a', priority: 0, reasons: [] };
    const eager = { then: (resolve: (taken: unknown) => void) => resolve(item) };
    const t = open(1, { getWithPriority: () => (waits++ === 0 ? eager : new Promise(() => undefined)) as never });
    t.run();
    await settle();
    expect(t.begun).toEqual(['a']);
  });

  it('fails with a queue that throws in tryGet', async () => {
    const t = open(2, {
      tryGetWithPriority: () => {
        throw broken;
      },
    });
    t.run();
    await settle();
    expect(t.outcome()).toBe(broken);
  });

  it('fails with a queue that does not take back what a lower limit leaves', async () => {
    const t = open(2, {
      addWith: () => {
        throw broken;
      },
    });
    t.queue.add('a');
    t.run();
    await settle();
    t.queue.add('b'); // taken, and not begun yet
    t.pool.concurrency = 1;
    await settle();
    await t.end('a');
    expect([t.outcome(), t.begun]).toEqual([broken, ['a']]);
  });

  it('waits once for the next item, whatever its limit becomes', async () => {
    const t = open(1);
    const wait = vi.spyOn(t.queue, 'getWithPriority');
    t.run();
    for (const limit of [2, 3]) t.pool.concurrency = limit;
    await settle();
    expect(wait).toHaveBeenCalledTimes(1);
    t.stop.abort();
    await settle();
    expect(t.outcome()).toBe('ended');
  });

  it('fails with work that throws, after the rest of the work', async () => {
    const t = open(2, {}, (item) => {
      if (item === 'b') throw broken;
    });
    t.queue.add('a');
    t.queue.add('b');
    t.run();
    await settle();
    expect([t.outcome(), t.begun]).toEqual(['runs', ['a']]);
    await t.end('a');
    expect(t.outcome()).toBe(broken);
  });

  it('leaves the event loop to others after each 10 ms of work that never waits', async () => {
    let now = 0;
    const clock = Object.assign(new FakeClock(), { monotonicNow: () => now });
    const queue = createPriorityQueue({ clock });
    for (let i = 0; i < 100; i++) queue.add(`item ${i}`);
    let done = 0;
    const pool = new WorkerPool<string>({
      queue,
      concurrency: 1,
      clock,
      work: ({ item }) => {
        now++;
        done++;
        queue.done(item);
        return Promise.resolve();
      },
    });
    const stop = new AbortController();
    const ended = pool.run(stop.signal);
    const perTurn: number[] = [];
    for (let before = 0; done < 100; before = done) {
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(done - before);
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(11);
    stop.abort();
    await ended;
  });
});
