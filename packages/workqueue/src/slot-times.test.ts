import { describe, expect, it } from 'vitest';
import { SlotTimes } from './slot-times.js';

describe('SlotTimes', () => {
  it('agrees with a Map, whatever is set, taken and released', () => {
    const times = new SlotTimes();
    const map = new Map<number, number>();
    let state = 12_345;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
      return (state >> 8) % below;
    };
    for (let step = 0; step < 20_000; step++) {
      const slot = random(step % 3 === 0 ? 5000 : 100);
      if (random(2) === 0) {
        const at = random(3) === 0 ? 0 : random(2000) - 2500;
        times.set(slot, at);
        map.set(slot, at);
      } else {
        expect(times.take(slot)).toBe(map.get(slot));
        map.delete(slot);
      }
      if (step % 5000 === 0) expect(times.all().toSorted()).toEqual([...map.values()].toSorted());
    }
    for (const slot of map.keys()) times.take(slot);
    times.release();
    expect(times.all()).toEqual([]);
    expect(times.take(4000)).toBeUndefined();
  });
});
