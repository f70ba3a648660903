// Random histories of feeds and of a consumer that takes its time, fails, and is fed while it works: both queues against
// plain lists. KCTL_PROPERTY_SEED replays a run.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDeltaFifo, createRealFifo, RequeueError } from '../../src/index.js';
import type { KnownObjects } from '../../src/index.js';
import type { Feed, Item, ItemDelta } from './queue-models.js';
import { GroupedModel, OrderedModel } from './queue-models.js';

const names = ['a', 'b', 'c', 'd'];
const name = fc.constantFrom(...names);
/** What happens to a queue from outside; values count up, so that each state is told from the others. */
const fed = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constantFrom('add' as const, 'update' as const), name }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('delete' as const), name }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('tombstone' as const), name, isEmpty: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('replace' as const),
      names: fc.subarray(names),
      isIncomplete: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('resync' as const) }) },
);
type Fed = typeof fed extends fc.Arbitrary<infer F> ? F : never;

const popped = fc.record({
  op: fc.constant('pop' as const),
  /** How many are popped together, from a queue that can. */
  most: fc.constantFrom(1, 2, 1000),
  outcome: fc.constantFrom('ok' as const, 'ok' as const, 'ok' as const, 'failure' as const, 'requeue' as const),
  /** Before the consumer applies what it was given, and after it has, when its promise is still to resolve. */
  before: fc.array(fed, { maxLength: 3 }),
  after: fc.array(fed, { maxLength: 2 }),
});
const history = fc.array(fc.oneof({ weight: 3, arbitrary: fed }, { weight: 2, arbitrary: popped }), { maxLength: 40 });

/** Does one thing to both, with one value. */
function feeding(queues: readonly Feed[], tell: (step: Fed) => void): (step: Fed) => void {
  let value = 0;
  return (step) => {
    tell(step);
    const at = ++value;
    const object = (of: string): Item => ({ name: of, value: at });
    for (const queue of queues) {
      if (step.op === 'resync') queue.resync();
      else if (step.op === 'replace')
        queue.replace(step.names.map(object), `${at}`, { isIncomplete: step.isIncomplete });
      else if (step.op === 'tombstone')
        queue.delete({ tombstoneOf: step.name, object: step.isEmpty ? undefined : object(step.name) });
      else queue[step.op](object(step.name));
    }
  };
}

/** What there is on the server, when a feed says what a reflector would. */
class Truth {
  readonly items: Set<string> = new Set();
  readonly tell = (step: Fed): void => {
    if (step.op === 'add' || step.op === 'update') this.items.add(step.name);
    else if (step.op === 'delete' || step.op === 'tombstone') this.items.delete(step.name);
    else if (step.op === 'replace') {
      if (!step.isIncomplete) this.items.clear();
      for (const one of step.names) this.items.add(one);
    }
  };
}

function apply(store: Map<string, Item>, deltas: readonly ItemDelta[]): void {
  for (const { type, key, object } of deltas)
    if (type === 'Deleted' || object === undefined) store.delete(key);
    else store.set(key, object);
}
const knownOf = (store: Map<string, Item>): KnownObjects<Item> => ({
  keys: () => store.keys(),
  get: (key) => store.get(key),
});
const key = ({ name: own }: Item): string => own;
const hop = (): Promise<void> => Promise.resolve();
const sorted = (store: Map<string, Item>): string[] => [...store.keys()].sort();

describe('random histories, with a consumer that awaits', () => {
  it('DeltaFIFO pops what a plain list of its deltas has, and brings the consumer to what is there', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const store = new Map<string, Item>();
        const fifo = createDeltaFifo<Item>({ key, knownObjects: knownOf(store) });
        const model = new GroupedModel();
        const truth = new Truth();
        const feed = feeding([fifo, model], truth.tell);
        const same = (): void => {
          expect(fifo.keys()).toEqual(model.order);
          expect(fifo.keys().map((one) => fifo.deltasOf(one))).toEqual(model.order.map((one) => model.deltasOf(one)));
          expect([fifo.length, fifo.hasSynced]).toEqual([model.order.length, model.hasSynced]);
        };
        const pop = async ({
          outcome,
          before,
          after,
        }: Omit<typeof popped extends fc.Arbitrary<infer P> ? P : never, 'op' | 'most'>) => {
          const isInitial = model.initial > 0;
          if (!model.begin()) return;
          const expected = model.inProcess;
          const isInInitialList = !model.hasSynced;
          const failure = outcome === 'failure' ? new Error('broken') : new RequeueError(new Error('broken'));
          const popping = fifo.pop(async (deltas, info) => {
            expect([deltas, info]).toEqual([expected, { key: expected[0]?.key, isInInitialList }]);
            await hop();
            before.forEach(feed);
            await hop();
            if (outcome !== 'ok') throw failure;
            apply(store, deltas);
            apply(model.known, deltas);
            same();
            after.forEach(feed);
            await hop();
          });
          if (outcome === 'ok') expect(await popping).toEqual(expected);
          else await expect(popping).rejects.toThrow('broken');
          model.end(isInitial, outcome === 'requeue');
        };
        for (const step of steps) {
          if (step.op === 'pop') await pop(step);
          else feed(step);
          same();
        }
        // Whatever was lost, the next list mends it.
        feed({ op: 'replace', names: [...truth.items].sort(), isIncomplete: false });
        while (model.order.length > 0) {
          await pop({ outcome: 'ok', before: [], after: [] });
          same();
        }
        expect([sorted(store), fifo.hasSynced]).toEqual([[...truth.items].sort(), true]);
      }),
      { numRuns: 300 },
    );
  });

  it('RealFIFO pops, alone and in batches, what a plain list of its deltas has', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom(2, 1000), async (steps, batchSize) => {
        const store = new Map<string, Item>();
        const fifo = createRealFifo<Item>({ key, knownObjects: knownOf(store), batchSize });
        const model = new OrderedModel();
        const truth = new Truth();
        const feed = feeding([fifo, model], truth.tell);
        const same = (): void => {
          expect(fifo.deltas()).toEqual(model.waiting);
          expect([fifo.length, fifo.hasSynced]).toEqual([model.waiting.length, model.hasSynced]);
        };
        const pop = async ({
          most,
          outcome,
          before,
          after,
        }: Omit<typeof popped extends fc.Arbitrary<infer P> ? P : never, 'op'>) => {
          const { initial, hasSynced } = model;
          if (!model.begin(most === 1 ? 1 : batchSize)) return;
          const expected = model.inProcess;
          const work = async (
            deltas: readonly ItemDelta[],
            info: { readonly isInInitialList: boolean },
          ): Promise<void> => {
            expect([deltas, info.isInInitialList]).toEqual([expected, !hasSynced]);
            await hop();
            before.forEach(feed);
            await hop();
            if (outcome !== 'ok') throw new Error('broken');
            apply(store, deltas);
            apply(model.known, deltas);
            same();
            after.forEach(feed);
            await hop();
          };
          const popping = most === 1 ? fifo.pop(work) : fifo.popBatch(work);
          if (outcome === 'ok') expect(await popping).toEqual(expected);
          else await expect(popping).rejects.toThrow('broken');
          model.end(Math.min(initial, expected.length));
        };
        for (const step of steps) {
          if (step.op === 'pop') await pop(step);
          else feed(step);
          same();
        }
        feed({ op: 'replace', names: [...truth.items].sort(), isIncomplete: false });
        while (model.waiting.length > 0) {
          await pop({ most: 1000, outcome: 'ok', before: [], after: [] });
          same();
        }
        expect([sorted(store), fifo.hasSynced]).toEqual([[...truth.items].sort(), true]);
      }),
      { numRuns: 300 },
    );
  });
});
