import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DelayHeap } from './delay-heap.js';

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('put' as const), slot: fc.nat({ max: 300 }), time: fc.nat({ max: 20 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), slot: fc.nat({ max: 300 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pop' as const) }) },
);

describe('DelayHeap', () => {
  it('orders by time, then by the order of pushes and moves, whatever is moved or removed', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
        const heap = new DelayHeap();
        let model: { slot: number; time: number; order: number }[] = [];
        const first = (): { slot: number; time: number } | undefined =>
          model.toSorted((a, b) => a.time - b.time || a.order - b.order)[0];
        for (const [order, next] of operations.entries()) {
          if (next.kind === 'pop') {
            const expected = first();
            if (expected === undefined) continue;
            expect(heap.pop()).toBe(expected.slot);
            model = model.filter(({ slot }) => slot !== expected.slot);
          } else {
            const isIn = model.some(({ slot }) => slot === next.slot);
            model = model.filter(({ slot }) => slot !== next.slot);
            if (next.kind === 'remove') {
              if (isIn) heap.remove(next.slot);
            } else {
              model.push({ slot: next.slot, time: next.time, order });
              if (isIn) heap.move(next.slot, next.time);
              else heap.push(next.slot, next.time);
              expect(heap.timeOf(next.slot)).toBe(next.time);
            }
          }
          expect([heap.size, heap.headTime]).toEqual([model.length, first()?.time ?? Infinity]);
        }
      }),
      { numRuns: 200 },
    );
  });
});
