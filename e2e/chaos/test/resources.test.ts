import { expect, it } from 'vitest';
import { compareThirds, findGrowth, type Sample } from '../src/informer/resources.js';

const mebibyte = 2 ** 20;
const series = (of: (index: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: 12 }, (_, index) => ({
    heapBytes: 50 * mebibyte,
    externalBytes: mebibyte,
    handles: 6,
    ...of(index),
  }));

it('calls noise flat', () => {
  expect(findGrowth(series((index) => ({ heapBytes: (50 + (index % 3) * 3) * mebibyte })))).toBeUndefined();
});

it.each<[string, (index: number) => Partial<Sample>]>([
  ['the heap grew', (index) => ({ heapBytes: (50 + index * 3) * mebibyte })],
  ['memory in buffers grew', (index) => ({ externalBytes: (1 + index * 5) * mebibyte })],
  ['handles grew', (index) => ({ handles: 6 + index * 2 })],
])('finds that %s', (message, of) => {
  expect(findGrowth(series(of))).toContain(message);
});

it('compares what is usual at the start with what is usual at the end', () => {
  const thirds = compareThirds(series((index) => ({ handles: index })));
  expect([thirds?.first.handles, thirds?.last.handles]).toEqual([2, 10]);
});
