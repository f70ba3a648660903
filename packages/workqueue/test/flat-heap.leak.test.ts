import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createDelayingQueue, createPriorityQueue, exponentialRateLimiter } from '../src/index.js';
import type { RateLimitingQueue } from '../src/index.js';
import { createRateLimitingQueue } from '../src/index.js';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function usedBytes(): number {
  if (typeof collect !== 'function') throw new Error('no gc');
  for (let round = 0; round < 3; round++) Reflect.apply(collect, undefined, []);
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** `.ci/run` lets a million through. Four bytes of each that stayed would be more than is allowed. */
const keys = Number(process.env['KCTL_KEYS'] ?? 250_000);
const allowedBytes = 1_000_000;

/** Makes keys as they come from the network: each a new string. */
const makeKey = (round: number, number: number): string => `round-${round}/object-${number}`;

describe('many keys through', () => {
  const clock = new FakeClock();
  const queues: Record<string, RateLimitingQueue<string>> = {
    'rate-limiting queue': createRateLimitingQueue({
      clock,
      rateLimiter: exponentialRateLimiter({ baseMs: 1, maxMs: 1 }),
    }),
    'priority queue': createPriorityQueue({ clock, rateLimiter: exponentialRateLimiter({ baseMs: 1, maxMs: 1 }) }),
  };

  it.each(Object.entries(queues))(
    '%s: leaves the heap flat, also when the keys wait all at once',
    (_name, queue) => {
      const through = (round: number): void => {
        for (let number = 0; number < keys; number++) {
          if (number % 2 === 0) queue.add(makeKey(round, number));
          else queue.addAfter(makeKey(round, number), 5);
        }
        clock.advanceSync(5);
        for (let key = queue.tryGet(); key !== undefined; key = queue.tryGet()) queue.done(key);
      };
      through(0);
      const before = usedBytes();
      through(1);
      expect(usedBytes() - before).toBeLessThan(allowedBytes);
      expect([queue.length, queue.processing, queue.delayed]).toEqual([0, 0, 0]);
    },
    180_000,
  );

  it.each(Object.entries(queues))(
    '%s: leaves the heap flat with one key at a time, while others stay',
    (_name, queue) => {
      for (let number = 0; number < 10; number++) queue.addAfter(`stays-${number}`, 1e6);
      const through = (round: number): void => {
        for (let number = 0; number < keys / 10; number++) {
          const key = makeKey(round, number);
          queue.addRateLimited(key);
          clock.advanceSync(1);
          const taken = queue.tryGet();
          expect(taken === key).toBe(true);
          queue.forget(key);
          queue.done(key);
        }
      };
      through(2);
      const before = usedBytes();
      through(3);
      expect(usedBytes() - before).toBeLessThan(allowedBytes);
    },
    180_000,
  );

  it('keeps no item alive that was done', async () => {
    const queue = createDelayingQueue<{ readonly id: string; readonly payload: Uint8Array }>({ key: ({ id }) => id });
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    for (let number = 0; number < 100; number++) {
      const item = { id: `${number}`, payload: new Uint8Array(10) };
      registry.register(item, number);
      queue.add(item);
    }
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) queue.done(item);
    for (let round = 0; round < 50 && collected < 99; round++) {
      usedBytes();
      await new Promise((resolve) => setImmediate(resolve));
    }
    // V8 may keep the last one in a register.
    expect(collected).toBeGreaterThanOrEqual(99);
  });
});
