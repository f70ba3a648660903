import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  createDelayingQueue,
  createPriorityQueue,
  createWorkQueue,
  isQueueArgumentError,
  isQueueFullError,
} from '../src/index.js';
import type { OverflowRule, WorkQueue } from '../src/index.js';

const takeAll = <T>(queue: WorkQueue<T>): T[] => {
  const taken: T[] = [];
  for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
    taken.push(item);
    queue.done(item);
  }
  return taken;
};

const thrownBy = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('a bounded queue', () => {
  const make = (overflow?: OverflowRule) => {
    const clock = new FakeClock();
    const dropped: string[] = [];
    const bound = {
      maxPending: 2,
      onDrop: (item: string) => void dropped.push(item),
      ...(overflow ? { overflow } : {}),
    };
    return { clock, dropped, queue: createDelayingQueue({ clock, bound }) };
  };

  it('throws when it is full, and adds nothing', () => {
    const { queue, dropped } = make();
    queue.add('a');
    queue.addAfter('b', 10);
    const error = thrownBy(() => queue.add('c'));
    expect(isQueueFullError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'KCTL_WORKQUEUE_FULL', maxPending: 2, item: 'c' });
    expect(isQueueFullError(thrownBy(() => queue.addAfter('c', 10)))).toBe(true);
    expect([queue.length, queue.delayed, dropped]).toEqual([1, 1, []]);
  });

  it('merges what is pending already, whatever the bound', () => {
    const { clock, queue } = make();
    queue.add('a');
    queue.addAfter('b', 10);
    queue.add('a');
    queue.add('b');
    queue.addAfter('a', 5);
    clock.advanceSync(10);
    expect(takeAll(queue)).toEqual(['a', 'b']);
  });

  it('never refuses what was accepted: adds during the work, and what falls due', () => {
    const { clock, queue } = make();
    queue.add('a');
    queue.tryGet();
    queue.add('b');
    queue.addAfter('c', 10);
    queue.add('a');
    clock.advanceSync(10);
    queue.done('a');
    expect(takeAll(queue)).toEqual(['b', 'c', 'a']);
  });

  it('has room again when an item is taken', () => {
    const { queue } = make();
    queue.add('a');
    queue.add('b');
    queue.tryGet();
    queue.add('c');
    expect(queue.length).toBe(2);
  });

  it('drops the newest', () => {
    const { queue, dropped } = make('dropNewest');
    for (const item of ['a', 'b', 'c']) queue.add(item);
    expect([takeAll(queue), dropped]).toEqual([['a', 'b'], ['c']]);
  });

  it('drops the oldest that waits, or the newest where all is delayed', () => {
    const { clock, queue, dropped } = make('dropOldest');
    for (const item of ['a', 'b', 'c', 'd']) queue.add(item);
    expect([takeAll(queue), dropped.splice(0)]).toEqual([
      ['c', 'd'],
      ['a', 'b'],
    ]);
    queue.addAfter('x', 10);
    queue.addAfter('y', 10);
    queue.add('z');
    clock.advanceSync(10);
    expect([takeAll(queue), dropped]).toEqual([['x', 'y'], ['z']]);
  });

  it('drops the least urgent of a priority queue, which may be the new one', () => {
    const dropped: string[] = [];
    const queue = createPriorityQueue({
      clock: new FakeClock(),
      bound: { maxPending: 2, overflow: 'dropOldest', onDrop: (item) => void dropped.push(item) },
    });
    queue.addWith({ priority: 5 }, 'urgent');
    queue.addWith({ priority: 1 }, 'normal');
    queue.addWith({ priority: 0 }, 'low');
    expect(dropped.splice(0)).toEqual(['low']);
    queue.addWith({ priority: 3 }, 'high');
    expect([dropped, takeAll(queue)]).toEqual([['normal'], ['urgent', 'high']]);
  });

  it('needs a bound of at least 1', () => {
    expect(isQueueArgumentError(thrownBy(() => createWorkQueue({ bound: { maxPending: 0 } })))).toBe(true);
  });

  it('stays exact with thousands of refused keys', () => {
    const queue = createWorkQueue({ bound: { maxPending: 3, overflow: 'dropOldest' } });
    for (let number = 0; number < 10_000; number++) queue.add(`key-${number}`);
    expect(takeAll(queue)).toEqual(['key-9997', 'key-9998', 'key-9999']);
  });
});

describe('identity', () => {
  it('goes by namespace and name, and by cluster, not by object', () => {
    const queue = createWorkQueue<{ cluster?: string; namespace?: string; name: string }>();
    queue.add({ namespace: 'x', name: 'a' });
    queue.add({ name: 'a', namespace: 'x' });
    queue.add({ namespace: 'y', name: 'a' });
    queue.add({ cluster: 'one', namespace: 'x', name: 'a' });
    queue.add({ cluster: 'two', namespace: 'x', name: 'a' });
    queue.add({ name: 'a' });
    expect(queue.length).toBe(5);
    const first = queue.tryGet();
    queue.add({ namespace: 'x', name: 'a' });
    expect(queue.length).toBe(4);
    queue.done({ namespace: 'x', name: 'a' });
    expect([first, queue.length]).toEqual([{ namespace: 'x', name: 'a' }, 5]);
  });

  it('does not take parts for one another', () => {
    const queue = createWorkQueue<{ namespace?: string; name: string }>();
    queue.add({ namespace: 'a/b', name: 'c' });
    queue.add({ namespace: 'a', name: 'b/c' });
    expect(queue.length).toBe(2);
  });

  it('refuses items that it cannot tell apart safely', () => {
    const queue = createWorkQueue<unknown>();
    for (const item of [
      { kind: 'Pod', name: 'a' },
      { name: 1 },
      {},
      null,
      undefined,
      Number.NaN,
      [],
      { name: 'a', namespace: 3 },
    ])
      expect(isQueueArgumentError(thrownBy(() => queue.add(item)))).toBe(true);
    expect(queue.length).toBe(0);
  });

  it('goes by the key function where there is one, and hands out the newest item of a key', () => {
    const queue = createWorkQueue<{ id: number; version: number }>({ key: ({ id }) => id });
    queue.add({ id: 1, version: 1 });
    queue.add({ id: 2, version: 1 });
    queue.add({ id: 1, version: 2 });
    expect(queue.tryGet()).toEqual({ id: 1, version: 2 });
    queue.add({ id: 1, version: 3 });
    queue.done({ id: 1, version: 2 });
    expect(takeAll(queue)).toEqual([
      { id: 2, version: 1 },
      { id: 1, version: 3 },
    ]);
  });

  it('keeps strings and objects apart in one queue, and remembers thousands of them', () => {
    const queue = createWorkQueue<string | { name: string }>();
    for (let number = 0; number < 3000; number++) {
      queue.add(`string-${number}`);
      if (number % 3 === 0) queue.add({ name: `object-${number}` });
    }
    expect(queue.length).toBe(4000);
    expect(takeAll(queue)).toHaveLength(4000);
    queue.add({ name: 'a' });
    queue.add('a');
    expect(takeAll(queue)).toEqual([{ name: 'a' }, 'a']);
  });
});
