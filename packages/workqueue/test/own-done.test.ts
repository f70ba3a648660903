// Work and loops that call `done` themselves, although their pool or iteration does: they end their own hand-out once,
// and never one of another worker.
import { FakeClock, settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPriorityQueue, createRateLimitingQueue, createWorkQueue } from '../src/index.js';
import type { WorkQueue } from '../src/index.js';

const flavours: Readonly<Record<string, () => WorkQueue<string>>> = {
  createWorkQueue: () => createWorkQueue(),
  createRateLimitingQueue: () => createRateLimitingQueue({ clock: new FakeClock() }),
  createPriorityQueue: () => createPriorityQueue({ clock: new FakeClock() }),
};

describe.each(Object.entries(flavours))('%s', (_name, create) => {
  it.each(['returns', 'fails'])('keeps the hand-out of another worker when work that called done %s', async (way) => {
    const queue = create();
    const gate = Promise.withResolvers<undefined>();
    queue.add('a');
    const pool = queue.run({ onError: () => 'stop' }, async (item) => {
      queue.done(item);
      await gate.promise;
      if (way === 'fails') throw new Error('broken');
    });
    const ended = pool.ended.catch((error: unknown) => error);
    await settle();
    queue.add('a');
    expect([queue.tryGet(), queue.processing]).toEqual(['a', 1]);
    gate.resolve(undefined);
    await settle();
    expect(queue.processing).toBe(1);
    queue.add('a');
    expect(queue.tryGet()).toBe(undefined);
    queue.done('a');
    void pool.stop().catch(() => undefined);
    expect(await ended).toEqual(way === 'fails' ? expect.objectContaining({ message: 'broken' }) : undefined);
    expect([queue.length, queue.processing]).toEqual([1, 0]);
  });

  it('keeps the hand-out of another key that got the slot meanwhile', async () => {
    const queue = create();
    const gate = Promise.withResolvers<undefined>();
    const abort = new AbortController();
    queue.add('first');
    const pool = queue.run({ signal: abort.signal }, async (item) => {
      queue.done(item);
      await gate.promise;
    });
    await settle();
    abort.abort();
    // More idle keys than the table remembers: its slots begin anew.
    for (let round = 0; round < 2; round++) {
      for (let number = 0; number < 3_000; number++) queue.add(`${round}-${number}`);
      for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) queue.done(item);
    }
    for (let number = 0; number < 2_000; number++) queue.add(`held-${number}`);
    for (let number = 0; number < 2_000; number++) queue.tryGet();
    gate.resolve(undefined);
    await pool.ended;
    expect(queue.processing).toBe(2_000);
  });

  it('keeps the hand-out of another worker when an iteration goes on or is left', async () => {
    for (const leave of ['next', 'return'] as const) {
      const queue = create();
      queue.add('a');
      const items = queue.items();
      await items.next();
      queue.done('a');
      queue.add('a');
      expect(queue.tryGet()).toBe('a');
      const call = leave === 'next' ? items.next() : items.return?.();
      await settle();
      expect(queue.processing).toBe(1);
      await items.return?.();
      await call;
    }
  });

  it('never has two workers on a key, whoever calls done and when', async () => {
    const plan = fc.record({
      seed: fc.array(fc.record({ key: fc.nat({ max: 2 }), turns: fc.nat({ max: 3 }), own: fc.nat({ max: 3 }) }), {
        minLength: 3,
        maxLength: 20,
      }),
      concurrency: fc.integer({ min: 2, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ seed, concurrency }) => {
        const queue = create();
        const claims = new Map<string, number>();
        let step = 0;
        const pool = queue.run({ concurrency }, async (item) => {
          expect(claims.get(item) ?? 0).toBe(0);
          claims.set(item, 1);
          const { turns = 0, own = 0, key = 0 } = seed[step++ % seed.length] ?? {};
          for (let turn = 0; turn < turns; turn++) {
            if (turn === own) {
              // From here on the key belongs to the next worker.
              claims.set(item, 0);
              queue.done(item);
              await settle();
              return;
            }
            await settle();
          }
          if (step < 30) queue.add(`key-${key}`);
          claims.set(item, 0);
        });
        const failure = pool.ended.catch((error: unknown) => error);
        for (const { key } of seed) {
          queue.add(`key-${key}`);
          await Promise.resolve();
        }
        await queue.shutDownWithDrain();
        expect(await failure).toBe(undefined);
      }),
      { numRuns: 40 },
    );
  });
});
