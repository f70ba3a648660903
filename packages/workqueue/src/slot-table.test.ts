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
    expect(table.idle).toBeLessThanOrEqual(Math.max(1024, 2 * inUse) + 1);
    for (const [number, slot] of slots.entries()) {
      expect(table.find(`kept-${number}`)).toBe(slot);
      expect(table.items[slot]).toBe(`kept-${number}`);
    }
    expect(table.find('passing-0')).toBe(-1);
    expect(new Set(slots).size).toBe(inUse);
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
