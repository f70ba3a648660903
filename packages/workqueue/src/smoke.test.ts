import { FakeClock, settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createPriorityQueue, createRateLimitingQueue } from './index.js';

it('works', async () => {
  const clock = new FakeClock();
  const queue = createRateLimitingQueue({ clock });
  queue.add('a');
  queue.add('b');
  queue.add('a');
  expect(queue.length).toBe(2);
  expect(await queue.get()).toBe('a');
  queue.add('a');
  expect(queue.length).toBe(1);
  queue.done('a');
  expect(queue.length).toBe(2);
  const seen: string[] = [];
  let fails = 2;
  const pool = queue.run({ concurrency: 2 }, (item) => {
    seen.push(item);
    if (item === 'b' && fails-- > 0) throw new Error('x');
  });
  await settle();
  await clock.advance(100);
  expect(seen).toEqual(['b', 'a', 'b', 'b']);
  await queue.shutDownWithDrain();
  await pool;
  expect(clock.pendingTimers).toBe(0);
});

it('prioritises', async () => {
  const clock = new FakeClock();
  const queue = createPriorityQueue<{ namespace: string; name: string }>({ clock });
  const key = (name: string) => ({ namespace: 'x', name });
  queue.addWith({ priority: -100 }, key('a'), key('b'));
  queue.addWith({ priority: 5 }, key('c'));
  queue.add(key('b'));
  queue.addWith({ priority: 7, afterMs: 10 }, key('d'));
  expect((await queue.getWithPriority())?.item.name).toBe('c');
  clock.advanceSync(10);
  expect(await queue.getWithPriority()).toEqual({ item: key('d'), priority: 7, reasons: [] });
  expect((await queue.get())?.name).toBe('b');
  expect((await queue.get())?.name).toBe('a');
  const waiting = queue.getWithPriority();
  queue.add(key('a'));
  queue.done(key('a'));
  expect((await waiting)?.item.name).toBe('a');
  queue.shutDown();
  expect(await queue.get()).toBe(undefined);
});
