import { describe, expect, it } from 'vitest';
import { expectCost, expectCount, expectFlatHeap, expectReleased, retainedBytes } from '../src/index.js';

describe('the lifetime and complexity suite', () => {
  const numbers = (size: number): number[] => Array.from({ length: size }, (_, index) => index);

  it('accepts linear work and refuses quadratic work', async () => {
    const linear = (list: number[]): number => {
      const seen = new Set<number>();
      for (let pass = 0; pass < 20; pass++) for (const number of list) seen.add(number);
      return seen.size;
    };
    await expectCost({ order: 'O(n)', size: 5_000, prepare: numbers, run: linear });
    const quadratic = (list: number[]): boolean => list.every((number) => list.includes(number));
    await expect(expectCost({ order: 'O(n)', size: 1_000, prepare: numbers, run: quadratic })).rejects.toThrow(
      'not O(n): 10000 take',
    );
  });

  it('accepts constant work and refuses linear work', async () => {
    const constant = (list: number[]): number => {
      let sum = 0;
      for (let step = 0; step < 1_000_000; step++) sum = (sum + (list[step % 10] ?? 0)) | 0;
      return sum;
    };
    await expectCost({ order: 'O(1)', size: 10_000, prepare: numbers, run: constant });
    const linear = (list: number[]): number => {
      let found = 0;
      for (let step = 0; step < 50; step++) found += list.indexOf(-1 - step);
      return found;
    };
    await expect(expectCost({ order: 'O(1)', size: 10_000, prepare: numbers, run: linear })).rejects.toThrow(
      'not O(1)',
    );
  });

  it('compares counted steps', async () => {
    await expectCount({ order: 'O(log n)', size: 1_000, count: (size) => Math.ceil(Math.log2(size)) });
    await expect(expectCount({ order: 'O(log n)', size: 1_000, count: (size) => size })).rejects.toThrow('10.0 times');
    await expect(expectCount({ order: 'O(1)', size: 1, count: () => Number.NaN })).rejects.toThrow('not O(1)');
  });

  it('accepts what is released and names what is not', async () => {
    const fill = (): { keep: Map<string, object>; released: Record<string, object> } => {
      const keep = new Map<string, object>();
      const released = { removed: { id: 1 }, forgotten: { id: 2 } };
      keep.set('removed', released.removed);
      keep.set('forgotten', released.forgotten);
      keep.delete('removed');
      return { keep, released };
    };
    await expectReleased(() => {
      const { keep, released } = fill();
      keep.clear();
      return { keep, released };
    });
    await expect(expectReleased(fill)).rejects.toThrow(/still reachable while object is kept: forgotten$/);
    await expect(expectReleased(() => ({ keep: undefined, released: {} }))).rejects.toThrow('released is empty');
  });

  it('accepts a flat heap and refuses one that grows', async () => {
    const kept: string[][] = [];
    const churn = (round: number): string[] => Array.from({ length: 20_000 }, (_, index) => `item-${round}-${index}`);
    await expectFlatHeap({ churn });
    await expect(expectFlatHeap({ churn: (round) => kept.push(churn(round)) })).rejects.toThrow('the heap grew by');
    expect(kept).toHaveLength(4);
  });

  it('says how much a structure retains', async () => {
    const { value, bytes } = await retainedBytes(() => new Uint8Array(3_000_000));
    expect(value).toHaveLength(3_000_000);
    expect(bytes).toBeGreaterThan(2_500_000);
    expect(bytes).toBeLessThan(4_000_000);
  });
});
