import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { WorkQueue } from '../work-queue.js';
import { outcome } from './drain.js';
import type { QueueFactory } from './setup.js';

/** Pools of workers: whatever the work does, a key is handled once at a time and never lost. */
export function describePool(create: QueueFactory<WorkQueue<string>>): void {
  const make = (): WorkQueue<string> => create({ clock: new FakeClock() });

  describe('its pool', () => {
    it('works on at most as many items at once as it may, and never on one twice', async () => {
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
      await pool.ended;
    });

    it('can be returned from an async function: it is not a promise', async () => {
      const queue = make();
      const start = async () => queue.run({}, () => undefined);
      const pool = await start();
      expect(pool).not.toHaveProperty('then');
      const ended = outcome(pool.ended);
      await settle();
      expect(ended.settled).toBe(false);
      queue.shutDown();
      await pool.ended;
    });

    const stops = {
      'stop()': (pool: { stop(): Promise<void> }) => void pool.stop(),
      'its signal': (_pool: unknown, abort: AbortController) => abort.abort(),
      'the end of the queue': (_pool: unknown, _abort: unknown, queue: WorkQueue<string>) => queue.shutDown(),
    };

    it.each(Object.entries(stops))(
      'does not end by %s before its work has ended, at whatever await it comes',
      async (_way, stop) => {
        for (let when = 0; when < 4; when++) {
          const queue = make();
          const abort = new AbortController();
          let isRunning = false;
          const pool = queue.run({ signal: abort.signal, concurrency: 2 }, async () => {
            isRunning = true;
            for (let step = 0; step < 4; step++) {
              if (step === when) stop(pool, abort, queue);
              expect(pool.active).toBe(1);
              await settle();
            }
            isRunning = false;
          });
          queue.add('a');
          await pool.ended;
          expect([isRunning, pool.active, queue.processing]).toEqual([false, 0, 0]);
        }
      },
    );

    it('passes the reason of its signal on to the work and waits for it', async () => {
      const queue = make();
      const abort = new AbortController();
      let isTold = false;
      let finish = (): void => undefined;
      const pool = queue.run({ signal: abort.signal }, (_item, { signal }) => {
        signal.addEventListener('abort', () => (isTold = true));
        return new Promise<void>((resolve) => (finish = resolve));
      });
      queue.add('a');
      queue.add('b');
      await settle();
      abort.abort();
      const ended = outcome(pool.ended);
      await settle();
      expect([isTold, ended.settled]).toEqual([true, false]);
      finish();
      await pool.ended;
      expect(queue.length).toBe(1);
      expect(queue.processing).toBe(0);
    });

    it('rejects with a failure whose verdict is stop, and puts the item back', async () => {
      const queue = make();
      const failure = new Error('broken');
      queue.add('a');
      queue.add('b');
      const pool = queue.run({ onError: () => 'stop' }, () => Promise.reject(failure));
      await expect(pool.ended).rejects.toBe(failure);
      await expect(pool.stop()).rejects.toBe(failure);
      expect([queue.length, queue.processing]).toEqual([2, 0]);
      expect([queue.tryGet(), queue.tryGet()].toSorted()).toEqual(['a', 'b']);
    });

    it.each([
      ['an async onError', () => Promise.resolve('retry')],
      ['an async onError that fails', () => Promise.reject(new Error('in onError'))],
      ['an unknown word', () => 'later'],
      ['true', () => true],
    ])('refuses the verdict of %s, and puts the item back', async (_name, onError) => {
      const queue = make();
      queue.add('a');
      const pool = queue.run({ onError: onError as never }, () => Promise.reject(new Error('in work')));
      await expect(pool.ended).rejects.toThrow('the verdict of onError');
      expect([queue.length, queue.processing]).toEqual([1, 0]);
    });

    const failure = new Error('poison');
    const poison: Readonly<Record<string, () => unknown>> = {
      'a throw': () => {
        throw failure;
      },
      'a rejection': () => Promise.reject(failure),
      'a `then` that throws': () => ({
        then() {
          throw failure;
        },
      }),
      'a `then` that cannot be read': () => ({
        get then(): unknown {
          throw failure;
        },
      }),
      'a function that is a thenable': () =>
        Object.assign(() => undefined, { then: (_: unknown, reject: (reason: Error) => void) => reject(failure) }),
      'a thenable that calls back twice': () => ({
        then(resolve: () => void, reject: (reason: Error) => void) {
          reject(failure);
          resolve();
          throw new Error('ignored');
        },
      }),
    };

    it.each(Object.entries(poison))(
      'judges %s as a failure, once, and goes on with the others',
      async (_name, spoil) => {
        const queue = make();
        const judged: unknown[] = [];
        const seen: string[] = [];
        const pool = queue.run(
          {
            onError: (error, item, attempt) => {
              judged.push([error, item, attempt]);
              return 'drop';
            },
          },
          (item) => {
            seen.push(item);
            return item === 'bad' ? spoil() : undefined;
          },
        );
        for (const item of ['bad', 'good']) queue.add(item);
        await settle();
        expect(judged).toEqual([[failure, 'bad', 1]]);
        expect([seen, pool.active, queue.processing, queue.length]).toEqual([['bad', 'good'], 0, 0, 0]);
        await pool.stop();
      },
    );
  });
}
