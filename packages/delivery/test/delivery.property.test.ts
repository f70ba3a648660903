import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Nature, World } from './model.js';
import { ModelStore, Recorder, rest } from './model.js';

const natures: readonly Nature[] = ['fast', 'slow', 'throws', 'rejects', 'thenable', 'hangs', 'joins', 'leaves'];
const ids = 5;
const store = fc.nat({ max: 1 });
const id = fc.nat({ max: ids - 1 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('write' as const), store, id }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('remove' as const), store, id }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('replace' as const), store, id }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('relist' as const), store, ids: fc.array(id) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('step' as const), store, count: fc.nat({ max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('join' as const),
      nature: fc.constantFrom(...natures),
      isEvery: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('leave' as const), which: fc.nat({ max: 10 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('resync' as const), which: fc.nat({ max: 10 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drop' as const), store }) },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 20, 400, 40_000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Plays a history; returns what no handler may see. */
async function play(steps: readonly Step[]): Promise<string[]> {
  const clock = new FakeClock();
  let version = 0;
  const next = (): number => ++version;
  const stores = [new ModelStore('a', next), new ModelStore('b', next)];
  const recorders: Recorder[] = [];
  const world: World = {
    clock,
    stores,
    join: (nature, isEvery) => {
      if (recorders.length < 12) recorders.push(new Recorder(world, nature, isEvery));
    },
    leave: (which) => void recorders[which % Math.max(recorders.length, 1)]?.remove(),
  };
  for (const present of steps) {
    switch (present.type) {
      case 'write':
        stores[present.store]?.write(present.id);
        break;
      case 'remove':
        stores[present.store]?.remove(present.id);
        break;
      case 'replace':
        stores[present.store]?.replace(present.id);
        break;
      case 'relist':
        stores[present.store]?.relist(present.ids);
        break;
      case 'step':
        stores[present.store]?.step(present.count);
        break;
      case 'drop':
        stores[present.store]?.drop();
        break;
      case 'join':
        world.join(present.nature, present.isEvery);
        break;
      case 'leave':
        world.leave(present.which);
        break;
      case 'resync':
        for (const place of recorders[present.which]?.places ?? []) place.resync();
        break;
      case 'wait':
        await clock.advance(present.ms);
        break;
    }
    for (const recorder of recorders) recorder.checkBound(ids);
  }
  for (const one of stores) one.step(Infinity);
  await rest(clock, recorders);
  const late = clock.pendingTimers === 0 ? [] : [`${clock.pendingTimers} timers are left`];
  return [...recorders.flatMap((recorder) => recorder.judge()), ...late];
}

describe('a delivery', () => {
  it('gives each handler a legal and complete history, whatever happens and whenever it joins', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }), async (steps) => {
        expect(await play(steps)).toEqual([]);
      }),
      { numRuns: Number(process.env['KCTL_HISTORIES'] ?? 2000), seed: Number(process.env['KCTL_SEED'] ?? 7) },
    );
  }, 600_000);
});
