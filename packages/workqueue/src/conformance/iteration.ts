import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { WorkQueue } from '../work-queue.js';
import type { QueueFactory } from './setup.js';

/** Items as an async iterator: nothing is taken by a consumer that leaves. */
export function describeIteration(create: QueueFactory<WorkQueue<string>>): void {
  const make = (): WorkQueue<string> => create({ clock: new FakeClock() });
  const over = { done: true, value: undefined };

  describe('its iteration', () => {
    it('goes on until the queue is shut down, and counts an item as done when the loop goes on', async () => {
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

    it.each(['break', 'throw'] as const)('counts an item as done when the loop is left by %s', async (way) => {
      const queue = make();
      queue.add('a');
      const loop = async (): Promise<void> => {
        for await (const item of queue.items()) {
          expect(item).toBe('a');
          if (way === 'break') break;
          throw new Error('left');
        }
      };
      if (way === 'break') await loop();
      else await expect(loop()).rejects.toThrow('left');
      expect([queue.processing, queue.length]).toEqual([0, 0]);
    });

    it('is left at once while it waits, and takes no key with it', async () => {
      const queue = make();
      const items = queue.items();
      const waiting = items.next();
      await settle();
      expect(await items.return?.()).toEqual(over);
      expect(await waiting).toEqual(over);
      expect(await items.next()).toEqual(over);
      queue.add('a');
      await settle();
      expect([queue.length, queue.processing]).toEqual([1, 0]);
      expect(await queue.get()).toBe('a');
    });

    it('puts back a key that was handed out in the very step in which it is left', async () => {
      for (const steps of [0, 1, 2, 3]) {
        const queue = make();
        const items = queue.items();
        const waiting = items.next();
        await settle();
        queue.add('a');
        for (let step = 0; step < steps; step++) await Promise.resolve();
        const left = items.return?.();
        const result = await waiting;
        await left;
        await settle();
        // Either the consumer saw the key, which then counts as done, or it is still there.
        expect([steps, queue.length, queue.processing]).toEqual([steps, result.done === true ? 1 : 0, 0]);
      }
    });

    it('ends with a stream that is destroyed while it waits', async () => {
      const queue = make();
      const stream = Readable.from(queue);
      const seen: unknown[] = [];
      stream.on('data', (item) => seen.push(item));
      queue.add('a');
      await settle();
      expect(seen).toEqual(['a']);
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.destroy();
      await closed;
      queue.add('b');
      await settle();
      expect([queue.length, queue.processing]).toEqual([1, 0]);
      expect(await queue.get()).toBe('b');
    });

    it('ends with the reason of its signal, without losing a key', async () => {
      const queue = make();
      const controller = new AbortController();
      const { signal } = controller;
      const reason = new Error('enough');
      const seen: string[] = [];
      const loop = (async () => {
        for await (const item of queue.items({ signal })) seen.push(item);
      })();
      queue.add('a');
      await settle();
      expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
      controller.abort(reason);
      await expect(loop).rejects.toBe(reason);
      queue.add('b');
      await settle();
      expect([seen, queue.length, queue.processing]).toEqual([['a'], 1, 0]);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
      await expect(queue[Symbol.asyncIterator]({ signal }).next()).rejects.toBe(reason);
      expect(queue.length).toBe(1);
    });

    it('ends only its own work when the loop calls done itself', async () => {
      const queue = make();
      const items = queue.items();
      const first = items.next();
      queue.add('a');
      await first;
      queue.done('a');
      // So many keys come and go, and come back to stay, that the place of the first is given to another one.
      for (const stays of [false, true])
        for (let number = 0; number < 2_500; number++) {
          queue.add(`key-${number}`);
          const key = queue.tryGet();
          if (!stays && key !== undefined) queue.done(key);
        }
      expect(queue.processing).toBe(2_500);
      await items.return?.();
      expect(queue.processing).toBe(2_500);
    });

    it('answers several calls of next in their order', async () => {
      const queue = make();
      const items = queue.items();
      const calls = [items.next(), items.next(), items.next()];
      queue.add('a');
      queue.add('b');
      expect((await Promise.all(calls.slice(0, 2))).map(({ value }) => value as unknown)).toEqual(['a', 'b']);
      await items.return?.();
      expect(await calls[2]).toEqual(over);
      expect([queue.length, queue.processing]).toEqual([0, 0]);
    });
  });
}
