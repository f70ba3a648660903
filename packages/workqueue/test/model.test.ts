// The queues against naive models, under arbitrary interleavings of adds, gets, dones, clock steps and shutdowns.
import { FakeClock, settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDelayingQueue, createPriorityQueue } from '../src/index.js';
import type { DelayingQueue, InspectableQueue, KeyFunction, PriorityQueue, QueueEntry } from '../src/index.js';
import { NaiveFifo, NaivePriority } from './naive-queues.js';
import type { NaiveQueue } from './naive-queues.js';

type Step =
  | { readonly kind: 'add' | 'done' | 'doneOther' | 'delete'; readonly item: number }
  | { readonly kind: 'addAfter'; readonly item: number; readonly delayMs: number; readonly priority: number }
  | { readonly kind: 'addWith'; readonly item: number; readonly priority: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'take' | 'garbage' | 'shutDown' | 'drain' };

/** A queue under test, behind strings. */
interface Subject {
  readonly queue: Pick<DelayingQueue<string>, 'length' | 'processing' | 'delayed' | 'shutDown' | 'shutDownWithDrain'>;
  has(item: string): boolean;
  delete(item: string): boolean;
  entries(): QueueEntry<unknown>[];
  add(item: string): void;
  addAfter(item: string, delayMs: number, priority: number): void;
  addWith(item: string, priority: number): void;
  take(): string | undefined;
  done(item: string): void;
  /** Adds what has no key. */
  addGarbage(): void;
}

interface Item {
  readonly name: string;
}

function inspection<T>(
  queue: InspectableQueue<T>,
  wrap: (item: string) => T,
): Pick<Subject, 'has' | 'delete' | 'entries'> {
  return {
    has: (item) => queue.has(wrap(item)),
    delete: (item) => queue.delete(wrap(item)),
    entries: () => queue.entries(),
  };
}

function prioritySubject(queue: PriorityQueue<string> & InspectableQueue<string>): Subject {
  return {
    queue,
    ...inspection(queue, (item) => item),
    add: (item) => queue.add(item),
    addAfter: (item, afterMs, priority) => queue.addWith({ afterMs, priority }, item),
    addWith: (item, priority) => queue.addWith({ priority }, item),
    take: () => queue.tryGet(),
    done: (item) => queue.done(item),
    addGarbage: () => queue.addWith({ priority: 1 }, Number.NaN as never),
  };
}

const subjects: Record<string, { model: () => NaiveQueue; create: (clock: FakeClock) => Subject }> = {
  'delaying queue of strings': {
    model: () => new NaiveFifo(),
    create: (clock) => {
      const queue = createDelayingQueue({ clock });
      return {
        queue,
        ...inspection(queue, (name) => name),
        add: (item) => queue.add(item),
        addAfter: (item, delayMs) => queue.addAfter(item, delayMs),
        addWith: (item) => queue.add(item),
        take: () => queue.tryGet(),
        done: (item) => queue.done(item),
        addGarbage: () => queue.add(undefined as never),
      };
    },
  },
  'delaying queue of objects': {
    model: () => new NaiveFifo(),
    create: (clock) => {
      const key: KeyFunction<Item> = ({ name }) => name;
      const queue = createDelayingQueue<Item>({ clock, key });
      return {
        queue,
        ...inspection(queue, (name): Item => ({ name })),
        add: (name) => queue.add({ name }),
        addAfter: (name, delayMs) => queue.addAfter({ name }, delayMs),
        addWith: (name) => queue.add({ name }),
        take: () => queue.tryGet()?.name,
        done: (name) => queue.done({ name }),
        addGarbage: () => queue.add({ name: undefined as never }),
      };
    },
  },
  'priority queue': {
    model: () => new NaivePriority(),
    create: (clock) => prioritySubject(createPriorityQueue({ clock })),
  },
  'priority queue with ageing': {
    model: () => new NaivePriority(3),
    create: (clock) => prioritySubject(createPriorityQueue({ clock, ageing: { stepMs: 3 } })),
  },
};

/** What waits, in the order of its hand-out, and what is due when. */
function expectSameEntries(model: NaiveQueue, subject: Subject): void {
  const entries = subject.entries().map(({ key, ...entry }) => ({ name: String(key), ...entry }));
  const idle = entries.filter(({ isProcessing }) => !isProcessing);
  expect(idle.filter(({ isReady }) => isReady).map(({ name }) => name)).toEqual(model.waiting());
  const later = idle.filter(({ isReady }) => !isReady).map(({ name, dueInMs }): [string, unknown] => [name, dueInMs]);
  const byTime = (list: [string, unknown][]): string[] => list.map(([name, ms]) => `${String(ms)} ${name}`).sort();
  expect(byTime(later)).toEqual(byTime(model.later()));
  expect(entries.filter(({ isProcessing }) => isProcessing)).toHaveLength(model.processing);
}

const item = fc.nat({ max: 5 });
const priority = fc.constantFrom(-100, 0, 1, 7);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), item }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('addWith' as const), item, priority }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('addAfter' as const),
      item,
      delayMs: fc.integer({ min: -1, max: 9 }),
      priority,
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('done' as const), item }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('garbage' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('doneOther' as const), item }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), item }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 6 }) }) },
);
const end: fc.Arbitrary<Step> = fc.record({ kind: fc.constantFrom('shutDown' as const, 'drain' as const) });

describe.each(Object.entries(subjects))('%s behaves as its naive model', (_name, { model: createModel, create }) => {
  /** Runs the steps on both and compares all that can be seen after each. */
  const runSteps = async (steps: readonly Step[], naming: (item: number) => string): Promise<void> => {
    const clock = new FakeClock();
    const model = createModel();
    const subject = create(clock);
    const held: string[] = [];
    const drains: Promise<void>[] = [];
    let isDown = false;
    for (const next of steps) {
      switch (next.kind) {
        case 'add':
          model.add(naming(next.item));
          subject.add(naming(next.item));
          break;
        case 'addWith':
          model.addWith(naming(next.item), next.priority);
          subject.addWith(naming(next.item), next.priority);
          break;
        case 'addAfter':
          model.addAfter(naming(next.item), next.delayMs, next.priority);
          subject.addAfter(naming(next.item), next.delayMs, next.priority);
          break;
        case 'take': {
          const expected = model.take();
          const actual = subject.take();
          expect(actual).toBe(expected);
          if (actual === undefined) break;
          expect(held).not.toContain(actual);
          held.push(actual);
          break;
        }
        case 'done': {
          const [finished] = held.splice(next.item % Math.max(held.length, 1), 1);
          if (finished === undefined) break;
          model.done(finished);
          subject.done(finished);
          break;
        }
        case 'doneOther':
          if (held.includes(naming(next.item))) break;
          model.done(naming(next.item));
          subject.done(naming(next.item));
          break;
        case 'delete':
          expect(subject.delete(naming(next.item))).toBe(model.delete(naming(next.item)));
          expect(subject.has(naming(next.item))).toBe(false);
          break;
        case 'garbage':
          if (!isDown) expect(() => subject.addGarbage()).toThrow('is ');
          break;
        case 'advance':
          model.advance(next.ms);
          clock.advanceSync(next.ms);
          break;
        case 'shutDown':
          isDown = true;
          model.shutDown();
          subject.queue.shutDown();
          break;
        case 'drain':
          isDown = true;
          model.drain();
          drains.push(subject.queue.shutDownWithDrain());
          break;
      }
      if ('item' in next) expect(subject.has(naming(next.item))).toBe(model.has(naming(next.item)));
      // A look at all entries for each of thousands of steps would be most of the time of this file.
      if (steps.length < 100) expectSameEntries(model, subject);
      const { length, processing, delayed } = subject.queue;
      expect({ length, processing, delayed }).toEqual({
        length: model.length,
        processing: model.processing,
        delayed: model.delayed,
      });
    }
    // Whatever happened: everything that is left comes out, once, and each drain ends.
    model.advance(1000);
    clock.advanceSync(1000);
    for (const left of held.splice(0)) {
      model.done(left);
      subject.done(left);
    }
    for (let left = model.take(); left !== undefined; left = model.take()) {
      expect(subject.take()).toBe(left);
      model.done(left);
      subject.done(left);
    }
    expect(subject.take()).toBe(undefined);
    expect(model.isDrained).toBe(true);
    await Promise.all(drains);
    subject.queue.shutDown();
    expect([subject.queue.processing, clock.pendingTimers]).toEqual([0, 0]);
  };

  it('with few keys', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.array(fc.oneof(step, end), { maxLength: 20 }),
        async (steps, last) => {
          await runSteps([...steps, ...last], (number) => `key-${number}`);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('with thousands of keys, of which most are idle', async () => {
    const random = fc.gen();
    await fc.assert(
      fc.asyncProperty(random, async (gen) => {
        const steps: Step[] = [];
        for (let round = 0; round < 8; round++) {
          const size = gen(fc.integer, { min: 300, max: 1500 });
          for (let count = 0; count < size; count++)
            steps.push({ kind: 'add', item: round * 1500 + count }, { kind: 'take' }, { kind: 'done', item: 0 });
          steps.push(...gen(fc.array, step, { minLength: 20, maxLength: 40 }));
        }
        await runSteps(steps, (number) => `key-${number}`);
      }),
      { numRuns: 3 },
    );
  });
});

describe('DelayingQueue with many workers', () => {
  it('loses no key and hands none to two workers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ item: fc.nat({ max: 8 }), delayMs: fc.nat({ max: 5 }), workMs: fc.nat({ max: 4 }) }), {
          maxLength: 80,
        }),
        fc.integer({ min: 1, max: 4 }),
        async (adds, concurrency) => {
          const clock = new FakeClock();
          const queue = createDelayingQueue({ clock });
          const busy = new Set<string>();
          const startedAfter = new Map<string, number>();
          const pool = queue.run({ concurrency }, async (key) => {
            expect(busy.has(key)).toBe(false);
            busy.add(key);
            startedAfter.set(key, clock.monotonicNow());
            await new Promise<void>((resolve) => clock.setTimer(() => resolve(), 3));
            busy.delete(key);
          });
          const addedAt = new Map<string, number>();
          for (const { item: number, delayMs, workMs } of adds) {
            const key = `key-${number}`;
            queue.addAfter(key, delayMs);
            addedAt.set(key, clock.monotonicNow());
            await clock.advance(workMs);
          }
          await clock.advance(1000);
          await settle();
          // Each key was worked on after it was last added: the last state was seen.
          for (const [key, at] of addedAt) expect(startedAfter.get(key)).toBeGreaterThanOrEqual(at);
          expect([queue.length, queue.processing, queue.delayed]).toEqual([0, 0, 0]);
          await queue.shutDownWithDrain();
          await pool.ended;
        },
      ),
      { numRuns: 25 },
    );
  });
});
