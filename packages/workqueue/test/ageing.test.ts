import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createPriorityQueue } from '../src/index.js';

describe('ageing', () => {
  const make = (stepMs = 10) => {
    const clock = new FakeClock();
    return { clock, queue: createPriorityQueue({ clock, ageing: { stepMs } }) };
  };

  it('lets a waiting item overtake newer ones of higher priority', () => {
    const { clock, queue } = make();
    queue.addWith({ priority: -3 }, 'old');
    const taken: string[] = [];
    for (let round = 0; round < 6; round++) {
      queue.addWith({ priority: 0 }, `new-${round}`);
      const item = queue.tryGet();
      if (item !== undefined) taken.push(item);
      clock.advanceSync(10);
    }
    expect(taken).toEqual(['new-0', 'new-1', 'new-2', 'new-3', 'old', 'new-4']);
  });

  it('keeps the age of an item whose priority is raised', () => {
    const { clock, queue } = make();
    queue.add('raised');
    clock.advanceSync(50);
    queue.addWith({ priority: 4 }, 'young');
    // Without the raise it would be first with 5 against 4; with it, it has 6.
    queue.addWith({ priority: 1 }, 'raised');
    expect(queue.tryGetWithPriority()).toMatchObject({ item: 'raised', priority: 1 });
  });

  it('does not starve an item whose priority creeps', () => {
    const { clock, queue } = make();
    queue.add('creeps');
    let rounds = 0;
    for (let item: string | undefined = ''; item !== 'creeps'; item = queue.tryGet()) {
      rounds++;
      clock.advanceSync(10);
      queue.addWith({ priority: rounds / 1_000 }, 'creeps');
      queue.addWith({ priority: 20 }, `urgent-${rounds}`);
      if (item !== '' && item !== undefined) queue.done(item);
      expect(rounds).toBeLessThan(25);
    }
  });

  it('keeps the age of a raised item that is being worked on', () => {
    const { clock, queue } = make();
    queue.add('a');
    queue.tryGet();
    queue.add('a');
    clock.advanceSync(50);
    queue.addWith({ priority: 1 }, 'a');
    queue.addWith({ priority: 5 }, 'b');
    queue.done('a');
    expect([queue.tryGet(), queue.tryGet()]).toEqual(['a', 'b']);
  });

  it('hands out the oldest of a priority first, whatever the order of the raises', () => {
    const { clock, queue } = make(1e9);
    const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
    for (const key of keys) {
      queue.add(key);
      clock.advanceSync(1);
    }
    for (const key of keys.toSorted((a, b) => a.length * 7 + a.charCodeAt(4) - (b.length * 7 + b.charCodeAt(4))))
      queue.addWith({ priority: 1 }, key);
    expect(keys.map(() => queue.tryGet())).toEqual(keys);
    expect(queue.tryGet()).toBe(undefined);
  });

  it.each([
    ['with ageing', { ageing: { stepMs: 1e9 } }],
    ['without it', {}],
  ])('keeps the priority of each of many keys, ready or delayed, %s', (_name, options) => {
    const clock = new FakeClock();
    const queue = createPriorityQueue({ clock, ...options });
    const priorityOf = (index: number): number => (index * 7) % 200;
    for (let index = 0; index < 200; index++)
      queue.addWith({ priority: priorityOf(index), afterMs: index % 2 === 0 ? 0 : 10 }, `key-${priorityOf(index)}`);
    clock.advanceSync(10);
    expect(queue.delete('key-100')).toBe(true);
    const expected = Array.from({ length: 200 }, (_, index) => 199 - index).filter((priority) => priority !== 100);
    expect(queue.entries().map(({ priority }) => priority)).toEqual(expected);
    expect(expected.map(() => queue.tryGetWithPriority())).toEqual(
      expected.map((priority) => ({ item: `key-${priority}`, priority, reasons: [] })),
    );
    expect(queue.tryGet()).toBe(undefined);
  });

  it.each([
    ['with ageing', { ageing: { stepMs: 1e9 } }],
    ['without it', {}],
  ])('gives no key the priority or the reasons of one that was forgotten, %s', (_name, options) => {
    const queue = createPriorityQueue({ clock: new FakeClock(), ...options });
    for (let index = 0; index < 3_000; index++) {
      const item = `key-${index}`;
      const isPlain = index % 2 === 0;
      if (isPlain) queue.add(item);
      else queue.addWith({ priority: 5, reason: 'because' }, item);
      const [priority, reasons] = isPlain ? [0, []] : [5, ['because']];
      const taken = queue.tryGetWithPriority();
      if (taken?.priority !== priority || taken.reasons.length !== reasons.length)
        expect(taken).toEqual({ item, priority, reasons });
      queue.done(item);
    }
    expect(queue.length).toBe(0);
  });

  it('starves low priorities without it, as controller-runtime does', () => {
    const clock = new FakeClock();
    const queue = createPriorityQueue({ clock });
    queue.addWith({ priority: -3 }, 'old');
    for (let round = 0; round < 100; round++) {
      queue.addWith({ priority: 0 }, `new-${round}`);
      expect(queue.tryGet()).toBe(`new-${round}`);
      clock.advanceSync(10);
    }
  });
});
