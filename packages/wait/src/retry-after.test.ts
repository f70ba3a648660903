import { describe, expect, it } from 'vitest';
import { retryAfterMs, retryAfterOfHeader } from './retry-after.js';

describe('retryAfterMs', () => {
  it('finds what the server asked for in the error or its causes', () => {
    expect(retryAfterMs({ retryAfterMs: 20 })).toBe(20);
    expect(retryAfterMs({ retryAfterSeconds: 3 })).toBe(3000);
    expect(retryAfterMs(new Error('outer', { cause: { retryAfterSeconds: 3 } }))).toBe(3000);
    const status = { details: { retryAfterSeconds: 7 } };
    expect(retryAfterMs(Object.assign(new Error('429'), { status }))).toBe(7000);
    const loop: { cause?: unknown } = {};
    loop.cause = loop;
    for (const none of [undefined, null, 'x', new Error('x'), { retryAfterMs: -1 }, { status: 429 }, loop])
      expect(retryAfterMs(none)).toBe(undefined);
  });
});

describe('retryAfterOfHeader', () => {
  const now = Date.UTC(2026, 10, 22, 9, 0, 0);

  it.each([
    ['7', 7_000],
    [' 0 ', 0],
    ['Sun, 22 Nov 2026 09:00:30 GMT', 30_000],
    ['Sun, 22 Nov 2026 08:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (header, ms) => {
    expect(retryAfterOfHeader(header, now)).toBe(ms);
  });
});
