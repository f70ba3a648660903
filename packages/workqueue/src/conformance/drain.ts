import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { WorkQueue } from '../work-queue.js';
import { consumers } from './consumers.js';
import type { QueueFactory, WorkQueueTraits } from './setup.js';

/** Whether a promise has settled. */
export function outcome(promise: Promise<unknown>): { settled: boolean } {
  const state = { settled: false };
  promise.finally(() => (state.settled = true)).catch(() => undefined);
  return state;
}

/** How a queue ends. Cases after client-go's `TestQueueDrainageUsingShutDownWithDrain` and its neighbours. */
export function describeDrain(create: QueueFactory<WorkQueue<string>>, traits: WorkQueueTraits): void {
  const make = (): WorkQueue<string> => create({ clock: new FakeClock() });
  const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);

  describe.each(Object.entries(consumers))('with %s', (_consumer, consume) => {
    const ends = {
      shutDownWithDrain: (queue: WorkQueue<string>) => queue.shutDownWithDrain(),
      'await using': async (queue: WorkQueue<string>) => {
        await using _scope = queue;
      },
      'several drains': (queue: WorkQueue<string>) =>
        Promise.all([queue.shutDownWithDrain(), queue.shutDownWithDrain(), queue[Symbol.asyncDispose]()]),
    };

    it.each(Object.entries(ends))('ends by %s when everything that was added is handled', async (_end, end) => {
      const queue = make();
      const handled: string[] = [];
      const consumer = consume(queue, async (item) => {
        await settle();
        handled.push(item);
      });
      for (const key of keys) queue.add(key);
      await end(queue);
      expect(handled.toSorted()).toEqual(keys);
      expect([queue.processing, queue.length]).toEqual([0, 0]);
      await consumer;
    });

    it('hands out again what was added while it was worked on before the drain', async () => {
      const queue = make();
      const handled: string[] = [];
      const consumer = consume(queue, async (item) => {
        if (handled.length === 0) queue.add(item);
        handled.push(item);
        await settle();
      });
      for (const key of keys.slice(0, 2)) queue.add(key);
      await settle();
      await queue.shutDownWithDrain();
      expect(handled.toSorted()).toEqual(['key-0', 'key-0', 'key-1']);
      await consumer;
    });

    it('ends a drain at once by a plain shutdown', async () => {
      const queue = make();
      const gate = Promise.withResolvers<undefined>();
      const consumer = consume(queue, async () => {
        await gate.promise;
      });
      for (const key of keys) queue.add(key);
      const drains = [queue.shutDownWithDrain(), queue.shutDownWithDrain()];
      const state = outcome(Promise.all(drains));
      await settle();
      expect(state.settled).toBe(false);
      queue.shutDown();
      await Promise.all(drains);
      expect(queue.processing).toBeGreaterThan(0);
      gate.resolve(undefined);
      await consumer;
    });
  });

  it('drains: waits until the workers are done with what they hold', async () => {
    const queue = make();
    queue.add('a');
    queue.add('b');
    queue.tryGet();
    queue.tryGet();
    const drain = queue.shutDownWithDrain();
    const state = outcome(drain);
    queue.add('c');
    queue.done('a');
    await settle();
    expect(state.settled).toBe(false);
    queue.done('b');
    await drain;
    expect(queue.tryGet()).toBe(undefined);
  });

  it('drains: still hands out what was added again before', async () => {
    const queue = make();
    queue.add('a');
    queue.tryGet();
    queue.add('a');
    const drain = queue.shutDownWithDrain();
    queue.done('a');
    expect(queue.tryGet()).toBe('a');
    queue.done('a');
    await drain;
  });

  it('drains: waits again after a shutdown that ended a drain', async () => {
    const queue = make();
    queue.add('a');
    queue.tryGet();
    const first = queue.shutDownWithDrain();
    queue.shutDown();
    await first;
    const state = outcome(queue.shutDownWithDrain());
    await settle();
    expect(state.settled).toBe(false);
    queue.done('a');
    await settle();
    expect(state.settled).toBe(true);
  });

  it('drains: does not wait for ever for items whose last worker has gone', async () => {
    const queue = make();
    queue.add('a');
    queue.add('b');
    queue.tryGet();
    const drain = queue.shutDownWithDrain();
    queue.done('a');
    await drain;
    expect(queue.tryGet()).toBe('b');
  });

  it('drains: does not wait for ever for items that a stopped or failed pool leaves', async () => {
    for (const leave of ['stop', 'fail'] as const) {
      const queue = make();
      for (const key of keys) queue.add(key);
      const pool = queue.run({ onError: () => 'stop' }, async () => {
        await settle();
        if (leave === 'fail') throw new Error('broken');
        void pool.stop();
      });
      const ended = outcome(pool.ended);
      await settle();
      await queue.shutDownWithDrain();
      expect([ended.settled, queue.processing]).toEqual([true, 0]);
      expect(queue.length).toBe(leave === 'fail' ? keys.length : keys.length - 1);
    }
  });

  it('drains: waits for a pool that pauses', async () => {
    const queue = make();
    queue.add('a');
    const seen: string[] = [];
    const pool = queue.run({ concurrency: 0 }, (item) => void seen.push(item));
    const state = outcome(queue.shutDownWithDrain());
    await settle();
    expect(state.settled).toBe(false);
    pool.concurrency = 1;
    await pool.ended;
    await settle();
    expect([seen, state.settled]).toEqual([['a'], true]);
  });

  if (traits.drainWithoutWorkers === 'resolves') {
    it('drains: does not wait for items where no worker is there at all', async () => {
      const queue = make();
      queue.add('a');
      await queue.shutDownWithDrain();
      expect(queue.tryGet()).toBe('a');
    });
  } else {
    it('drains: waits for a first worker', async () => {
      const queue = make();
      queue.add('a');
      const drain = queue.shutDownWithDrain();
      const state = outcome(drain);
      await settle();
      expect(state.settled).toBe(false);
      expect(await queue.get()).toBe('a');
      await settle();
      expect(state.settled).toBe(false);
      queue.done('a');
      await drain;
    });
  }
}
