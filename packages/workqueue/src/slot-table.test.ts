import { describe, expect, it } from 'vitest';
import { delayed, ready, SlotTable } from './slot-table.js';

/** Uses a key, gives it flags, and returns its slot. */
function use(table: SlotTable<string>, key: string, flag: number): number {
  const slot = table.slotOf(key);
  if (table.flags[slot] === 0) table.use();
  table.flags[slot] = flag;
  return slot;
}

function through(table: SlotTable<string>, key: string): void {
  const slot = use(table, key, ready);
  table.flags[slot] = 0;
  table.release(slot);
}

describe.each([
  ['strings', undefined],
  ['a key function', (item: string) => item],
])('SlotTable of %s', (_name, key) => {
  it.each([
    ['a few', 100],
    ['many', 20_000],
  ])('forgets idle keys in time while %s others are in use, and keeps those', (_many, inUse) => {
    const table = new SlotTable<string>(key, () => expect.unreachable());
    const slots = Array.from({ length: inUse }, (_, number) => use(table, `kept-${number}`, delayed));
    for (let number = 0; number < inUse * 3 + 10_000; number++) through(table, `passing-${number}`);
    expect(table.live).toBe(inUse);
    // While the idle ones are being forgotten a few more join them.
    expect(table.idle).toBeLessThanOrEqual(Math.max(1024, 2 * inUse) * 1.05 + 1);
    for (const [number, slot] of slots.entries()) {
      expect(table.find(`kept-${number}`)).toBe(slot);
      expect(table.items[slot]).toBe(`kept-${number}`);
    }
    expect(table.find('passing-0')).toBe(-1);
    expect(new Set(slots).size).toBe(inUse);
  });

  it('forgets a burst little by little, and keeps what comes and goes meanwhile', () => {
    const table = new SlotTable<string>(key, () => expect.unreachable());
    const slots = Array.from({ length: 100_000 }, (_, number) => use(table, `key-${number}`, ready));
    // While not all of those were looked at that may be forgotten.
    const released = 84_000;
    let longest = 0;
    for (const slot of slots.slice(0, released)) {
      const before = table.idle;
      table.flags[slot] = 0;
      table.release(slot);
      longest = Math.max(longest, before - table.idle);
    }
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(100);
    expect(table.idle).toBeGreaterThan(2 * table.live);
    for (let number = 0; number < 100_000; number++) {
      const known = table.find(`key-${number}`);
      if (number >= released || known >= 0) expect(known).toBe(slots[number]);
    }
    const again = Array.from({ length: 100_000 }, (_, number) => use(table, `key-${number}`, ready));
    expect(new Set(again).size).toBe(100_000);
    expect(again.slice(released)).toEqual(slots.slice(released));
    for (const [number, slot] of again.entries()) expect(table.find(`key-${number}`)).toBe(slot);
    expect([table.live, table.idle]).toEqual([100_000, 0]);
  });

  it('forgets a burst by the releases alone, before all of it is released', () => {
    const table = new SlotTable<string>(key, () => expect.unreachable());
    const slots = Array.from({ length: 40_000 }, (_, number) => use(table, `key-${number}`, ready));
    for (const slot of slots.slice(0, 30_000)) {
      table.flags[slot] = 0;
      table.release(slot);
    }
    expect([table.live, table.idle <= 2 * table.live]).toEqual([10_000, true]);
    for (const [index, slot] of slots.slice(30_000).entries()) expect(table.find(`key-${30_000 + index}`)).toBe(slot);
  });

  it('forgets a burst by the keys alone that come after it', () => {
    const table = new SlotTable<string>(key, () => expect.unreachable());
    const slots = Array.from({ length: 40_000 }, (_, number) => use(table, `key-${number}`, ready));
    let isForgetting = false;
    for (const slot of slots) {
      if (isForgetting) break;
      const before = table.idle;
      table.flags[slot] = 0;
      table.release(slot);
      isForgetting = table.idle < before;
    }
    const idle = table.idle;
    const inUse = table.live;
    for (let number = 0; number < idle; number++) use(table, `next-${number}`, ready);
    expect([table.live, table.idle]).toEqual([inUse + idle, 0]);
    for (let number = 0; number < idle; number++)
      expect(table.items[table.find(`next-${number}`)]).toBe(`next-${number}`);
  });

  it('finds keys that return in the same order, in another, or never', () => {
    const table = new SlotTable<string>(key, () => undefined);
    const names = ['a', '', 'b', 'c'];
    const slots = names.map((name) => use(table, name, ready));
    for (const round of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [0, 2, 1, 3],
      [1, 1, 3, 3],
    ])
      for (const index of round) {
        expect(table.find(names[index] ?? '')).toBe(slots[index]);
        expect(table.find('d')).toBe(-1);
      }
  });

  it('does not take a forgotten key for one that never was', () => {
    const table = new SlotTable<string>(key, () => expect.unreachable());
    use(table, 'kept', delayed);
    for (let number = 0; number < 5000; number++) {
      through(table, `passing-${number}`);
      expect(table.find('kept')).toBe(0);
      expect(table.find('')).toBe(-1);
    }
  });

  it('finds a returning key again, at the same slot', () => {
    const table = new SlotTable<string>(key, () => undefined);
    through(table, 'other');
    const slot = table.slotOf('a');
    through(table, 'a');
    expect(table.find('a')).toBe(slot);
    expect(table.slotOf('a')).toBe(slot);
    expect(table.idle).toBe(2);
  });

  it('releases everything when nothing is in use after a burst, and says so', () => {
    let resets = 0;
    const table = new SlotTable<string>(key, () => resets++);
    const slots = Array.from({ length: 5000 }, (_, number) => use(table, `key-${number}`, ready));
    for (const slot of slots) {
      table.flags[slot] = 0;
      table.release(slot);
    }
    expect([resets, table.live]).toEqual([1, 0]);
    expect(table.idle).toBeLessThanOrEqual(1024);
    expect(table.find('key-4999')).toBe(-1);
    expect(table.flags.length).toBeLessThan(5000);
  });
});
