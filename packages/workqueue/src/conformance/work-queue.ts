import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { WorkQueue } from '../work-queue.js';
import type { QueueFactory, WorkQueueTraits } from './setup.js';

/** The behaviour of a {@link WorkQueue}. Cases after client-go's `queue_test.go`. */
export function describeWorkQueue(
  name: string,
  create: QueueFactory<WorkQueue<string>>,
  traits: WorkQueueTraits = { afterShutDown: 'serve', drainWaitsFor: 'held' },
): void {
  const make = (): WorkQueue<string> => create({ clock: new FakeClock() });
  const outcome = (promise: Promise<unknown>): { settled: boolean } => {
    const state = { settled: false };
    promise.finally(() => (state.settled = true)).catch(() => undefined);
    return state;
  };

  describe(`${name} is a WorkQueue`, () => {
    it('hands out items first in, first out', () => {
      const queue = make();
      for (const item of ['c', 'a', 'b']) queue.add(item);
      expect(queue.length).toBe(3);
      expect([queue.tryGet(), queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual(['c', 'a', 'b', undefined]);
      expect(queue.processing).toBe(3);
    });

    it('merges what is added while it waits', () => {
      const queue = make();
      for (const item of ['a', 'b', 'a', 'a']) queue.add(item);
      expect(queue.length).toBe(2);
      expect([queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual(['a', 'b', undefined]);
    });

    it('hands an item to one worker at a time, and again after done if it was added meanwhile', () => {
      const queue = make();
      queue.add('a');
      expect(queue.tryGet()).toBe('a');
      queue.add('a');
      queue.add('a');
      expect(queue.length).toBe(0);
      expect(queue.tryGet()).toBe(undefined);
      queue.done('a');
      expect(queue.length).toBe(1);
      expect(queue.tryGet()).toBe('a');
      queue.done('a');
      expect(queue.tryGet()).toBe(undefined);
      expect(queue.processing).toBe(0);
    });

    it('counts waiting items in length and handed-out ones in processing', () => {
      const queue = make();
      queue.add('a');
      queue.add('b');
      queue.tryGet();
      expect([queue.length, queue.processing]).toEqual([1, 1]);
      queue.done('a');
      expect([queue.length, queue.processing]).toEqual([1, 0]);
    });

    it('ignores done for what was not handed out', () => {
      const queue = make();
      queue.done('never seen');
      queue.add('a');
      queue.done('a');
      expect(queue.length).toBe(1);
      expect(queue.tryGet()).toBe('a');
      queue.done('a');
      queue.done('a');
      queue.add('a');
      expect(queue.tryGet()).toBe('a');
      expect(queue.processing).toBe(1);
    });

    it('does not hand out again what was done before it was added', () => {
      const queue = make();
      queue.add('a');
      queue.tryGet();
      queue.done('a');
      queue.add('a');
      expect(queue.tryGet()).toBe('a');
      expect(queue.tryGet()).toBe(undefined);
    });

    it('lets get wait for an item, in the order of the calls', async () => {
      const queue = make();
      const first = queue.get();
      const second = queue.get();
      queue.add('a');
      queue.add('b');
      expect([await first, await second]).toEqual(['a', 'b']);
    });

    it('wakes one waiter per item', async () => {
      const queue = make();
      const first = queue.get();
      const second = outcome(queue.get());
      queue.add('a');
      queue.add('a');
      expect(await first).toBe('a');
      await settle();
      expect(second.settled).toBe(false);
      queue.done('a');
      await settle();
      expect(second.settled).toBe(false);
    });

    it('ends a get by its signal, without losing an item', async () => {
      const queue = make();
      const abort = new AbortController();
      const reason = new Error('enough');
      const waiting = queue.get({ signal: abort.signal });
      const next = queue.get();
      abort.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      queue.add('a');
      expect(await next).toBe('a');
      await expect(queue.get({ signal: abort.signal })).rejects.toBe(reason);
      queue.add('b');
      await expect(queue.get({ signal: abort.signal })).rejects.toBe(reason);
      expect(queue.tryGet()).toBe('b');
    });

    it('refuses items after shutdown', async () => {
      const queue = make();
      expect(queue.shuttingDown).toBe(false);
      queue.shutDown();
      queue.add('a');
      expect(queue.shuttingDown).toBe(true);
      expect(queue.length).toBe(0);
      expect(await queue.get()).toBe(undefined);
    });

    it('releases those who wait when it is shut down', async () => {
      const queue = make();
      const waiting = [queue.get(), queue.get()];
      queue.shutDown();
      expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    });

    it('can be shut down more than once, in any order', async () => {
      const queue = make();
      queue.shutDown();
      queue.shutDown();
      await queue.shutDownWithDrain();
      await queue.shutDownWithDrain();
      queue.shutDown();
      expect(await queue.get()).toBe(undefined);
    });

    if (traits.afterShutDown === 'serve') {
      it('still hands out after shutdown what waited, and what was added again before', async () => {
        const queue = make();
        queue.add('a');
        queue.tryGet();
        queue.add('a');
        queue.add('b');
        queue.shutDown();
        expect(await queue.get()).toBe('b');
        expect(await queue.get()).toBe(undefined);
        queue.done('a');
        expect(await queue.get()).toBe('a');
        expect(await queue.get()).toBe(undefined);
      });
    } else {
      it('hands out nothing after shutdown', async () => {
        const queue = make();
        queue.add('a');
        queue.tryGet();
        queue.add('a');
        queue.add('b');
        queue.shutDown();
        expect(queue.length).toBe(0);
        expect(await queue.get()).toBe(undefined);
        queue.done('a');
        expect(await queue.get()).toBe(undefined);
        expect(queue.processing).toBe(0);
      });
    }

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

    it('ends a drain by a plain shutdown', async () => {
      const queue = make();
      queue.add('a');
      queue.tryGet();
      const drain = queue.shutDownWithDrain();
      const second = queue.shutDownWithDrain();
      queue.shutDown();
      await Promise.all([drain, second]);
      expect(queue.processing).toBe(1);
    });

    if (traits.drainWaitsFor === 'held') {
      it('drains: does not wait for items that nobody takes', async () => {
        const queue = make();
        queue.add('a');
        await queue.shutDownWithDrain();
        expect(queue.tryGet()).toBe('a');
      });
    } else {
      it('drains: waits until what is ready is handed out and done', async () => {
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

    it('waits on disposal for what workers hold', async () => {
      const queue = make();
      queue.add('a');
      queue.tryGet();
      const disposal = queue[Symbol.asyncDispose]();
      const state = outcome(disposal);
      await settle();
      expect(state.settled).toBe(false);
      queue.done('a');
      await disposal;
    });

    it('iterates until it is shut down, and counts an item as done when the loop goes on', async () => {
      const queue = make();
      queue.add('a');
      queue.add('b');
      const seen: string[] = [];
      let again = true;
      for await (const item of queue) {
        seen.push(item);
        expect(queue.processing).toBe(1);
        if (item === 'a' && again) {
          again = false;
          queue.add('a');
        } else if (item === 'a') {
          queue.shutDown();
        }
      }
      expect(seen).toEqual(['a', 'b', 'a']);
      expect(queue.processing).toBe(0);
    });

    it('counts an item as done when the loop is left', async () => {
      const queue = make();
      queue.add('a');
      for await (const item of queue) {
        expect(item).toBe('a');
        break;
      }
      expect(queue.processing).toBe(0);
    });

    it('works on at most as many items at once as the pool may, and never on one twice', async () => {
      const queue = make();
      const open = new Map<string, () => void>();
      let most = 0;
      const pool = queue.run({ concurrency: 2 }, (item) => {
        expect(open.has(item)).toBe(false);
        return new Promise<void>((resolve) => {
          open.set(item, resolve);
          most = Math.max(most, open.size);
        });
      });
      const finish = (item: string): void => {
        open.get(item)?.();
        open.delete(item);
      };
      for (const item of ['a', 'b', 'c', 'd']) queue.add(item);
      await settle();
      expect([...open.keys()]).toEqual(['a', 'b']);
      expect(pool.active).toBe(2);
      queue.add('a');
      finish('a');
      await settle();
      expect([...open.keys()]).toEqual(['b', 'c']);
      pool.concurrency = 3;
      await settle();
      expect([...open.keys()]).toEqual(['b', 'c', 'd']);
      pool.concurrency = 1;
      finish('b');
      finish('c');
      await settle();
      expect([...open.keys()]).toEqual(['d']);
      finish('d');
      await settle();
      expect([...open.keys()]).toEqual(['a']);
      finish('a');
      await settle();
      expect(most).toBe(3);
      expect([pool.active, queue.processing, queue.length]).toEqual([0, 0, 0]);
      queue.shutDown();
      await pool;
    });

    it('ends the pool by its signal after the work in progress, which is told', async () => {
      const queue = make();
      const abort = new AbortController();
      let told = false;
      let finish = (): void => undefined;
      const pool = queue.run({ signal: abort.signal }, (_item, { signal }) => {
        signal.addEventListener('abort', () => (told = true));
        return new Promise<void>((resolve) => (finish = resolve));
      });
      queue.add('a');
      queue.add('b');
      await settle();
      abort.abort();
      const ended = outcome(Promise.resolve(pool));
      await settle();
      expect([told, ended.settled]).toEqual([true, false]);
      finish();
      await pool;
      expect(queue.length).toBe(1);
      expect(queue.processing).toBe(0);
    });

    it('rejects the pool with a failure whose verdict is stop', async () => {
      const queue = make();
      const failure = new Error('broken');
      queue.add('a');
      queue.add('b');
      const pool = queue.run({ onError: () => 'stop' }, () => Promise.reject(failure));
      await expect(Promise.resolve(pool)).rejects.toBe(failure);
      expect([queue.length, queue.processing]).toEqual([1, 0]);
    });
  });
}
