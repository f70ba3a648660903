// Whoever consumes a queue, and whenever the end comes: nothing that was added is left or lost.
import { FakeClock, settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consumers } from '../src/conformance/consumers.js';
import { createDelayingQueue, createPriorityQueue, createRateLimitingQueue, createWorkQueue } from '../src/index.js';
import type { WorkQueue } from '../src/index.js';

const flavours: Readonly<Record<string, () => WorkQueue<string>>> = {
  createWorkQueue: () => createWorkQueue(),
  createDelayingQueue: () => createDelayingQueue({ clock: new FakeClock() }),
  createRateLimitingQueue: () => createRateLimitingQueue({ clock: new FakeClock() }),
  createPriorityQueue: () => createPriorityQueue({ clock: new FakeClock() }),
  'createPriorityQueue with ageing': () => createPriorityQueue({ clock: new FakeClock(), ageing: { stepMs: 1 } }),
};
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe.each(Object.entries(flavours))('%s', (_name, create) => {
  it('is drained when each key was handled after it was last added', async () => {
    const scenario = fc.record({
      consumers: fc.array(fc.constantFrom(...Object.keys(consumers)), { minLength: 1, maxLength: 3 }),
      adds: fc.array(fc.record({ key: fc.nat({ max: 6 }), pause: fc.nat({ max: 2 }) }), {
        minLength: 1,
        maxLength: 15,
      }),
      workTurns: fc.nat({ max: 3 }),
      again: fc.nat({ max: 6 }),
      drains: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async (plan) => {
        const queue = create();
        const busy = new Set<string>();
        const addedAt = new Map<string, number>();
        const handledAt = new Map<string, number>();
        let time = 0;
        let isOpen = true;
        let mayAddAgain = true;
        const add = (key: string): void => {
          addedAt.set(key, time++);
          queue.add(key);
        };
        const running = plan.consumers.map(async (name) => {
          await consumers[name]?.(queue, async (key) => {
            expect(busy.has(key)).toBe(false);
            busy.add(key);
            handledAt.set(key, time++);
            if (isOpen && mayAddAgain && key === `key-${plan.again}`) {
              mayAddAgain = false;
              add(key);
            }
            await turns(plan.workTurns);
            busy.delete(key);
          });
        });
        for (const { key, pause } of plan.adds) {
          add(`key-${key}`);
          await turns(pause);
        }
        isOpen = false;
        await Promise.all(Array.from({ length: plan.drains }, () => queue.shutDownWithDrain()));
        for (const [key, at] of addedAt) expect([key, (handledAt.get(key) ?? -1) > at]).toEqual([key, true]);
        expect([queue.processing, queue.length]).toEqual([0, 0]);
        await Promise.all(running);
      }),
      { numRuns: 40 },
    );
  });

  it('serves those who wait in the order of their calls, also one who comes when an item is ready', async () => {
    const queue = create();
    const served: string[] = [];
    const first = queue.get().then((item) => served.push(`first ${item}`));
    queue.add('a');
    const second = queue.items().next();
    const third = queue.get().then((item) => served.push(`third ${item}`));
    await first;
    expect(served).toEqual(['first a']);
    queue.add('b');
    queue.add('c');
    expect(await second).toEqual({ done: false, value: 'b' });
    await third;
    expect(served).toEqual(['first a', 'third c']);
  });

  it('hands a drain what an aborted pool gives back', async () => {
    const queue = create();
    const abort = new AbortController();
    queue.add('a');
    queue.add('b');
    const pool = queue.run({ signal: abort.signal, concurrency: 2 }, async (_item, { signal }) => {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    await settle();
    const drained = queue.shutDownWithDrain();
    abort.abort();
    await pool.ended;
    const seen: string[] = [];
    for await (const item of queue.items()) seen.push(item);
    await drained;
    expect(seen.toSorted()).toEqual(['a', 'b']);
  });

  it('loses no key to an iteration, whenever it is left', async () => {
    const step = fc.constantFrom('add', 'next', 'return', 'tick', 'turn', 'begin');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const queue = create();
        const seen: string[] = [];
        let added = 0;
        let items = queue.items();
        const calls: Promise<unknown>[] = [];
        for (const next of steps) {
          if (next === 'add') queue.add(`key-${added++}`);
          else if (next === 'next')
            calls.push(items.next().then((result) => (result.done === true ? 0 : seen.push(result.value))));
          else if (next === 'return') calls.push(Promise.resolve(items.return?.()));
          else if (next === 'tick') await Promise.resolve();
          else if (next === 'turn') await settle();
          else {
            calls.push(Promise.resolve(items.return?.()));
            items = queue.items();
          }
        }
        calls.push(Promise.resolve(items.return?.()));
        await Promise.all(calls);
        await settle();
        expect(queue.processing).toBe(0);
        for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
          seen.push(item);
          queue.done(item);
        }
        expect(seen.toSorted()).toEqual(Array.from({ length: added }, (_, index) => `key-${index}`).toSorted());
      }),
      { numRuns: 150 },
    );
  });

  it('ends a pool only after its work, wherever the work stops it', async () => {
    const scenario = fc.record({
      keys: fc.integer({ min: 1, max: 6 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      stopAt: fc.nat({ max: 5 }),
      stopTurn: fc.nat({ max: 3 }),
      way: fc.constantFrom('stop', 'abort', 'shutDown', 'fail', 'drain'),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ keys, concurrency, stopAt, stopTurn, way }) => {
        const queue = create();
        const abort = new AbortController();
        let running = 0;
        let handled = 0;
        const pool = queue.run({ concurrency, signal: abort.signal, onError: () => 'stop' }, async (key) => {
          running++;
          for (let turn = 0; turn < 4; turn++) {
            if (key === `key-${stopAt % keys}` && turn === stopTurn) {
              if (way === 'stop') void pool.stop().catch(() => undefined);
              else if (way === 'abort') abort.abort();
              else if (way === 'drain') void queue.shutDownWithDrain();
              else if (way === 'shutDown') queue.shutDown();
              else {
                running--;
                throw new Error('broken');
              }
            }
            if (turn > 0) await turns(1);
          }
          running--;
          handled++;
        });
        for (let key = 0; key < keys; key++) queue.add(`key-${key}`);
        const failure: unknown = await pool.ended.then(
          () => undefined,
          (error: unknown) => error,
        );
        expect([running, pool.active, queue.processing]).toEqual([0, 0, 0]);
        expect(failure instanceof Error).toBe(way === 'fail');
        // Nothing is lost: except for a plain shutdown, which the priority queue takes as the end of what waits.
        if (way !== 'shutDown') expect(handled + queue.length).toBe(keys);
      }),
      { numRuns: 80 },
    );
  });
});
