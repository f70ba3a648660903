// Looking into a queue, tidying it up, waiting for it to be idle.
import { getEventListeners } from 'node:events';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createDelayingQueue, createPriorityQueue, createRateLimitingQueue, createWorkQueue } from '../src/index.js';

const clock = new FakeClock();
const queues = {
  createWorkQueue: () => createWorkQueue({ clock }),
  createDelayingQueue: () => createDelayingQueue({ clock }),
  createRateLimitingQueue: () => createRateLimitingQueue({ clock }),
  createPriorityQueue: () => createPriorityQueue({ clock }),
  'createPriorityQueue with ageing': () => createPriorityQueue({ clock, ageing: { stepMs: 10 } }),
};

describe.each(Object.entries(queues))('%s', (_name, create) => {
  it('knows what waits, what is being worked on and what was added again', () => {
    const queue = create();
    expect(queue.peek('a')).toBeUndefined();
    queue.add('a');
    queue.add('b');
    expect(queue.has('a')).toBe(true);
    expect(queue.tryGet()).toBe('a');
    expect(queue.has('a')).toBe(false);
    expect(queue.peek('a')).toMatchObject({ key: 'a', item: 'a', isProcessing: true, isReady: false });
    queue.add('a');
    expect(queue.has('a')).toBe(true);
    expect(queue.peek('a')).toMatchObject({ isProcessing: true, isReady: true, dueInMs: undefined });
    expect(queue.entries().map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('takes back what is pending, and leaves work in progress alone', () => {
    const queue = create();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect([queue.delete('b'), queue.delete('b'), queue.delete('x')]).toEqual([true, false, false]);
    expect(queue.tryGet()).toBe('a');
    queue.add('a');
    expect(queue.delete('a')).toBe(true);
    expect(queue.processing).toBe(1);
    queue.done('a');
    queue.add('b');
    expect([queue.delete('d'), queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual([true, 'c', 'b', undefined]);
  });

  it('leaves no listener on a signal that outlives a wait, an iteration or a pool', async () => {
    const queue = create();
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, 'abort').length;
    await queue.waitUntilIdle({ signal });
    expect(listeners()).toBe(0);
    const waiting = [queue.get({ signal }), queue.items({ signal }).next()];
    expect(listeners()).toBe(2);
    queue.add('a');
    queue.add('b');
    await Promise.all(waiting);
    expect(listeners()).toBe(0);
    const pool = queue.run({ signal }, () => undefined);
    expect(listeners()).toBe(1);
    await pool.stop();
    expect(listeners()).toBe(0);
  });

  it('keeps apart, in their order, more keys than it first has room for', () => {
    const queue = create();
    const keys = Array.from({ length: 300 }, (_, index) => `key-${index}`);
    for (const key of keys) queue.add(key);
    for (const key of keys.filter((_, index) => index % 3 === 0)) expect(queue.delete(key)).toBe(true);
    const left = keys.filter((_, index) => index % 3 !== 0);
    expect(queue.entries().map(({ key }) => key)).toEqual(left);
    expect(left.map(() => queue.tryGet())).toEqual(left);
    for (const key of left) queue.add(key);
    expect([queue.length, queue.processing]).toEqual([0, 200]);
    for (const key of left) queue.done(key);
    expect(left.map(() => queue.tryGet())).toEqual(left);
  });

  it('is idle when nothing waits and nothing is worked on, at the end of a step', async () => {
    const queue = create();
    await queue.waitUntilIdle();
    queue.add('a');
    let isIdle = false;
    const idle = queue.waitUntilIdle().then(() => (isIdle = true));
    expect(queue.tryGet()).toBe('a');
    queue.add('b');
    queue.done('a');
    await settle();
    expect(isIdle).toBe(false);
    expect(queue.tryGet()).toBe('b');
    queue.done('b');
    await idle;
    expect(queue.shuttingDown).toBe(false);
  });

  it('is idle after the last key was taken back, after a drain and after a shutdown', async () => {
    const queue = create();
    queue.add('a');
    const idle = queue.waitUntilIdle();
    queue.delete('a');
    await idle;
    queue.add('b');
    const pool = queue.run({}, () => undefined);
    await Promise.all([queue.waitUntilIdle(), queue.shutDownWithDrain()]);
    await pool.ended;
    await queue.waitUntilIdle();
  });

  it('ends a drain when the last key is taken back', async () => {
    const queue = create();
    queue.add('a');
    queue.add('b');
    expect(queue.tryGet()).toBe('a');
    const drained = queue.shutDownWithDrain();
    queue.done('a');
    expect(queue.delete('b')).toBe(true);
    await drained;
  });

  it('stops waiting with its signal', async () => {
    const queue = create();
    queue.add('a');
    const abort = new AbortController();
    const waiting = queue.waitUntilIdle({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(queue.waitUntilIdle({ signal: abort.signal })).rejects.toThrow('enough');
    expect(() => queue.waitUntilIdle({ delayed: true } as never)).toThrow('unknown option "delayed"');
  });
});

const { createWorkQueue: _plain, ...delaying } = queues;

describe.each(Object.entries(delaying))('%s', (_name, create) => {
  it('says when a delayed key is due, and takes it back', async () => {
    const queue = create();
    const before = clock.pendingTimers;
    queue.addAfter('a', 300);
    queue.addAfter('b', 100);
    await clock.advance(40);
    expect(queue.peek('a')).toMatchObject({ isReady: false, isProcessing: false, dueInMs: 260 });
    expect(queue.entries().map(({ key, dueInMs }) => [key, dueInMs])).toEqual([
      ['b', 60],
      ['a', 260],
    ]);
    expect([queue.delete('a'), queue.delete('b'), queue.has('a')]).toEqual([true, true, false]);
    expect(clock.pendingTimers).toBe(before);
    await clock.advance(1_000);
    expect(queue.length).toBe(0);
  });

  it('waits for what is delayed where that is asked for', async () => {
    const queue = create();
    queue.addAfter('a', 300);
    await queue.waitUntilIdle();
    let isIdle = false;
    const idle = queue.waitUntilIdle({ includeDelayed: true }).then(() => (isIdle = true));
    await clock.advance(300);
    expect([isIdle, queue.tryGet()]).toEqual([false, 'a']);
    queue.done('a');
    await idle;
  });
});

it('tells priority and failures', () => {
  const queue = createPriorityQueue({ clock });
  queue.addWith({ priority: 7, afterMs: 50 }, 'a');
  queue.addRateLimited('b');
  expect(queue.peek('a')).toMatchObject({ priority: 7, dueInMs: 50, numRequeues: 0 });
  expect(queue.peek('b')).toMatchObject({ priority: 0, dueInMs: 5, numRequeues: 1 });
  queue.addWith({ priority: 1 }, 'c');
  queue.addWith({ priority: 9 }, 'd');
  expect(queue.entries().map(({ key }) => key)).toEqual(['d', 'c', 'b', 'a']);
  queue.shutDown();
});

it('hands out no reason and no priority of what was taken back', () => {
  const queue = createPriorityQueue({ clock });
  queue.addWith({ reason: 'old', priority: 5 }, 'a');
  expect(queue.delete('a')).toBe(true);
  queue.addWith({ reason: 'new' }, 'a');
  expect(queue.tryGetWithPriority()).toEqual({ item: 'a', priority: 0, reasons: ['new'] });
});

it('shows no priority of what is being worked on alone', () => {
  const queue = createPriorityQueue({ clock });
  queue.addWith({ priority: 5 }, 'a');
  expect(queue.peek('a')).toMatchObject({ isReady: true, priority: 5 });
  queue.tryGet();
  expect(queue.peek('a')).toMatchObject({ isProcessing: true, isReady: false, priority: 0 });
  queue.addWith({ priority: 3, afterMs: 10 }, 'a');
  expect(queue.peek('a')).toMatchObject({ isProcessing: true, isReady: false, priority: 3 });
});
