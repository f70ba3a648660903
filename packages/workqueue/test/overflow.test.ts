// Bounded queues against what a bound promises, under arbitrary adds, delays, takes and steps of the clock.
import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDelayingQueue, createPriorityQueue } from '../src/index.js';

const maxPending = 3;
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), item: fc.nat({ max: 7 }) }),
  fc.record({
    kind: fc.constant('addAfter' as const),
    item: fc.nat({ max: 7 }),
    delayMs: fc.integer({ min: 1, max: 5 }),
  }),
  fc.record({ kind: fc.constant('take' as const) }),
  fc.record({ kind: fc.constant('done' as const) }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 4 }) }),
);

const flavours = { createDelayingQueue: createDelayingQueue<string>, createPriorityQueue: createPriorityQueue<string> };

describe.each(Object.entries(flavours))('%s with dropOldest', (_name, create) => {
  it('drops a key that is ready and delayed as a whole, and no other one', () => {
    const clock = new FakeClock();
    const dropped: string[] = [];
    const bound = { maxPending: 2, overflow: 'dropOldest' as const, onDrop: (item: string) => void dropped.push(item) };
    const queue = create({ clock, bound });
    queue.add('both');
    queue.addAfter('both', 10);
    queue.add('other');
    queue.add('new');
    expect(dropped).toEqual(['both']);
    expect(queue.delayed).toBe(0);
    clock.advanceSync(10);
    expect([queue.tryGet(), queue.tryGet(), queue.tryGet()]).toEqual(['other', 'new', undefined]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('has added a key when the hook throws, and throws that then', () => {
    const clock = new FakeClock();
    const dropped: string[] = [];
    const queue = create({
      clock,
      bound: {
        maxPending: 1,
        overflow: 'dropOldest',
        onDrop: (item) => {
          dropped.push(item);
          throw new Error('the hook');
        },
      },
    });
    queue.add('a');
    expect(() => queue.add('b')).toThrow('the hook');
    expect([dropped, queue.length]).toEqual([['a'], 1]);
    expect(queue.tryGet()).toBe('b');
  });

  it('lets the hook add, and does not go on for ever where it always does', () => {
    const clock = new FakeClock();
    let adds = 0;
    const queue = create({
      clock,
      bound: {
        maxPending: 1,
        overflow: 'dropOldest',
        onDrop: (item) => {
          if (++adds <= 3) queue.add(item);
        },
      },
    });
    queue.add('a');
    queue.add('b');
    expect([queue.length, queue.tryGet(), adds]).toEqual([1, 'a', 4]);
    adds = -Infinity;
    queue.add('c');
    expect(() => queue.add('d')).toThrow('bound.onDrop was called 1000 times in a row');
    expect(queue.length).toBe(1);
  });

  it('reports what an add of the hook drops when the hook has returned', () => {
    const steps: string[] = [];
    const queue = create({
      bound: {
        maxPending: 1,
        overflow: 'dropOldest',
        onDrop: (item) => {
          steps.push(`drops ${item}`);
          if (item === 'a') queue.add('c');
          steps.push(`dropped ${item}`);
        },
      },
    });
    queue.add('a');
    queue.add('b');
    expect(steps).toEqual(['drops a', 'dropped a', 'drops b', 'dropped b']);
    expect(queue.tryGet()).toBe('c');
  });

  it('delivers or reports each accepted key, never both, and drops no more than it has to', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.boolean(), (steps, hookThrows) => {
        const clock = new FakeClock();
        /** Keys that are to be delivered. */
        const owed = new Set<string>();
        const held: string[] = [];
        let drops = 0;
        /** Keys that wait again since they were worked on: they were accepted, and are not refused by a full queue. */
        let returned = 0;
        const queue = create({
          clock,
          bound: {
            maxPending,
            overflow: 'dropOldest',
            onDrop: (item) => {
              drops++;
              owed.delete(item);
              if (hookThrows) throw new Error('the hook');
            },
          },
        });
        const add = (item: string, into: () => void): void => {
          const before = drops;
          owed.add(item);
          try {
            into();
          } catch (error) {
            if (!hookThrows) throw error;
          }
          expect(drops - before).toBeLessThanOrEqual(1 + returned);
          // Keys are dropped until there is room for one.
          if (drops > before) returned = 0;
        };
        for (const next of steps) {
          if (next.kind === 'add') add(`key-${next.item}`, () => queue.add(`key-${next.item}`));
          else if (next.kind === 'addAfter')
            add(`key-${next.item}`, () => queue.addAfter(`key-${next.item}`, next.delayMs));
          else if (next.kind === 'advance') clock.advanceSync(next.ms);
          else if (next.kind === 'done') {
            const item = held.shift();
            if (item === undefined) continue;
            queue.done(item);
            if (owed.has(item)) returned++;
          } else {
            const item = queue.tryGet();
            if (item === undefined) continue;
            expect(owed.has(item)).toBe(true);
            held.push(item);
            // A delay of the same key may still be pending: it stays owed until all is quiet.
            if (queue.delayed === 0) owed.delete(item);
          }
          expect(queue.length).toBeLessThanOrEqual(maxPending + held.length + returned);
        }
        clock.advanceSync(100);
        const delivered = new Set<string>();
        for (const item of held) queue.done(item);
        for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
          delivered.add(item);
          queue.done(item);
        }
        for (const item of delivered) expect(owed.has(item)).toBe(true);
        expect([queue.length, queue.delayed, queue.processing, clock.pendingTimers]).toEqual([0, 0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  });
});
