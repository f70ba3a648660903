import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgedLevels } from './aged-levels.js';

interface Entry {
  readonly slot: number;
  priority: number;
  readonly readyAt: number;
  sequence: number;
}

describe('AgedLevels', () => {
  // Few priorities and many raises: levels get large, and what enters them is of any age.
  const raise = fc.record({ kind: fc.constant('raise' as const), which: fc.nat({ max: 1_000 }), by: fc.constant(1) });
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('push' as const), priority: fc.nat({ max: 1 }) }) },
    { weight: 12, arbitrary: raise },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('take' as const, 'takeLowest' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat({ max: 7 }) }) },
  );

  it('take what a sorted list takes, whatever is raised from wherever', () => {
    const stepMs = 50;
    fc.assert(
      fc.property(fc.array(step, { minLength: 50, maxLength: 300, size: 'max' }), (steps) => {
        let now = 0;
        let sequence = 0;
        let slots = 0;
        const levels = new AgedLevels({ now: () => now, stepMs });
        let model: Entry[] = [];
        const urgency = ({ priority, readyAt }: Entry): number => priority + Math.floor((now - readyAt) / stepMs);
        const byAge = (a: Entry, b: Entry): number => a.readyAt - b.readyAt || a.sequence - b.sequence;
        const pick = (order: (a: Entry, b: Entry) => number): number => {
          const [first] = model.toSorted((a, b) => order(a, b) || byAge(a, b));
          model = model.filter((entry) => entry !== first);
          return first?.slot ?? -1;
        };
        const take = (): number => pick((a, b) => urgency(b) - urgency(a) || b.priority - a.priority);
        for (const next of steps) {
          if (next.kind === 'push') {
            levels.push(slots, next.priority, false);
            model.push({ slot: slots++, priority: next.priority, readyAt: now, sequence: sequence++ });
          } else if (next.kind === 'raise') {
            const entry = model[next.which % Math.max(model.length, 1)];
            if (entry === undefined) continue;
            levels.raise(entry.slot, entry.priority, entry.priority + next.by);
            Object.assign(entry, { priority: entry.priority + next.by, sequence: sequence++ });
          } else if (next.kind === 'advance') now += next.ms;
          else if (next.kind === 'take') expect(levels.take()).toBe(take());
          else expect(levels.takeLowest()).toBe(pick((a, b) => a.priority - b.priority));
          expect(levels.length).toBe(model.length);
        }
        while (model.length > 0) expect(levels.take()).toBe(take());
        expect([levels.take(), levels.length, levels.lowest]).toEqual([-1, 0, Infinity]);
      }),
      { numRuns: 150 },
    );
  });
});
