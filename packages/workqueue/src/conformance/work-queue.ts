import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { WorkQueue } from '../work-queue.js';
import { describeDrain, outcome } from './drain.js';
import { describeIteration } from './iteration.js';
import { describePool } from './pool.js';
import type { QueueFactory, WorkQueueTraits } from './setup.js';

/** The behaviour of a {@link WorkQueue}. Cases after client-go's `queue_test.go`. */
export function describeWorkQueue(
  name: string,
  create: QueueFactory<WorkQueue<string>>,
  traits: WorkQueueTraits = { afterShutDown: 'serve', drainWithoutWorkers: 'resolves' },
): void {
  const make = (): WorkQueue<string> => create({ clock: new FakeClock() });
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

    describeDrain(create, traits);
    describeIteration(create);
    describePool(create);
  });
}
