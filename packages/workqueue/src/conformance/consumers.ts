import type { WorkQueue } from '../work-queue.js';

/** Ways to take items from a queue until it is at its end; each resolves then. */
export const consumers: Readonly<
  Record<string, (queue: WorkQueue<string>, work: (item: string) => Promise<void>) => Promise<void>>
> = {
  'a pool': (queue, work) => queue.run({}, work).ended,
  'a pool of three': (queue, work) => queue.run({ concurrency: 3 }, work).ended,
  'a get loop': async (queue, work) => {
    for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
      await work(item);
      queue.done(item);
    }
  },
  'a get loop that pauses between two items': async (queue, work) => {
    for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
      await work(item);
      queue.done(item);
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  },
  'for await': async (queue, work) => {
    for await (const item of queue) await work(item);
  },
  'two loops': async (queue, work) => {
    const loop = async (): Promise<void> => {
      for await (const item of queue.items()) await work(item);
    };
    await Promise.all([loop(), loop()]);
  },
};
