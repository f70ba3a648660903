// The life of a controller, generated: whatever happens at whatever await, no key is lost, none is reconciled twice at
// once, nothing is left behind and no rejection is unhandled. `KCTL_SEED` and `KCTL_RUNS` search elsewhere.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action, Deed, ModelOptions } from './life/actions.js';
import { LifeModel } from './life/model.js';

const key = fc.constantFrom('a', 'b', 'c');
const source = fc.integer({ min: 0, max: 7 });
type Plain = 'stop' | 'warm' | 'cool' | 'endLife' | 'sendAll' | 'poison' | 'release' | 'rest';
const plain = (...types: readonly Plain[]): fc.Arbitrary<Action> => fc.constantFrom(...types).map((type) => ({ type }));
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('event'), key, verb: fc.constantFrom('add', 'delete') }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constantFrom('watch', 'remove', 'removeStale'), source }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('run'), hasLife: fc.boolean() }) },
  { weight: 4, arbitrary: plain('stop') },
  { weight: 4, arbitrary: plain('warm', 'cool', 'endLife', 'sendAll', 'poison', 'release') },
  { weight: 2, arbitrary: plain('rest') },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('send'), key: fc.constantFrom('x', 'y') }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('advance'), ms: fc.integer({ min: 0, max: 80 }) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('turns'), count: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('workers'), count: fc.integer({ min: 0, max: 3 }) }) },
);
const deed = fc.constantFrom<Deed[]>(
  'done',
  'fail',
  'throw',
  'hostile',
  'garbage',
  'backoff',
  'requeue',
  'requeueNow',
  'requeuePast',
  'untilStop',
  'untilStop',
  'untilStop',
  'hang',
  'slow',
);
const options: fc.Arbitrary<ModelOptions> = fc.record({
  usePriorityQueue: fc.boolean(),
  eventsDuringBackoff: fc.constantFrom('immediate', 'oncePerWindow'),
  isDebounced: fc.boolean(),
  isLimited: fc.boolean(),
  areHandlersSlow: fc.boolean(),
  isHostile: fc.boolean(),
});
const seed = Number(process.env['KCTL_SEED'] ?? 20_261_122);
const numRuns = Number(process.env['KCTL_RUNS'] ?? 800);

describe('the life of a controller', () => {
  it('keeps its promises at any await', async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    const before = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', listener);
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(action, { maxLength: 40, size: 'max' }),
          fc.array(deed, { maxLength: 20, size: 'max' }),
          options,
          async (actions, deeds, modelOptions) => {
            const model = new LifeModel(deeds, modelOptions);
            for (const each of actions) await model.act(each);
            const violations = await model.end();
            await new Promise((resolve) => setImmediate(resolve));
            expect([violations, unhandled.splice(0)]).toEqual([[], []]);
          },
        ),
        { seed, numRuns },
      );
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const each of before) process.on('unhandledRejection', each);
    }
  });
});
