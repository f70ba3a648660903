import { describe, expect, it } from 'vitest';
import { formatMicroTime } from './record.js';
import { createStamps } from './record-times.js';

describe('formatMicroTime', () => {
  it.each([
    [[0], '1970-01-01T00:00:00.000000Z'],
    [[Date.UTC(2026, 0, 2, 3, 4, 5, 6), 7], '2026-01-02T03:04:05.006007Z'],
    [[8.64e15, 999], '+275760-09-13T00:00:00.000999Z'],
  ] as const)('writes %o as the API server does: %s', (given, text) => {
    expect(formatMicroTime(...(given as readonly [number, number?]))).toBe(text);
  });

  it.each([Number.NaN, Infinity, 8.64e15 + 1, undefined, null, '0', new Date(0)])('refuses %o', (given) => {
    expect(() => formatMicroTime(given as number)).toThrow(
      /^formatMicroTime: .* is not a time: expected ms since 1970$/,
    );
  });
});

describe('times of a record', () => {
  it.each([0, 0.25, 0.999, 0.9999])('are MicroTimes that differ from one to the next (start %s)', (start) => {
    const stamp = createStamps(() => 0, start);
    const stamps = Array.from({ length: 1_500 }, stamp);
    for (const each of stamps) expect(each).toMatch(/^1970-01-01T00:00:00\.000\d{3}Z$/);
    expect(new Set(stamps).size).toBe(1_000);
  });

  it('differ from those of a candidate that started otherwise', () => {
    expect(createStamps(() => 0, 0.25)()).not.toBe(createStamps(() => 0, 0.75)());
  });
});
