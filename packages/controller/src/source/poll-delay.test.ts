import { StatusError } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { pollDelay, requireInterval } from './poll-delay.js';

const throttled = (retryAfterSeconds: number): StatusError =>
  new StatusError({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds } });

describe('the pause before the next poll', () => {
  it.each<[string, { everyMs: number; failures: number; error?: unknown }, number]>([
    ['is the interval', { everyMs: 1_000, failures: 0 }, 1_000],
    ['doubles with each failure', { everyMs: 1_000, failures: 1 }, 2_000],
    ['doubles with each failure, again', { everyMs: 1_000, failures: 4 }, 16_000],
    ['is five minutes at most', { everyMs: 1_000, failures: 50 }, 300_000],
    ['is the interval if that is longer', { everyMs: 900_000, failures: 3 }, 900_000],
    ['is at least what the server asks for', { everyMs: 1_000, failures: 1, error: throttled(30) }, 30_000],
    ['is not shortened by what the server asks for', { everyMs: 100_000, failures: 1, error: throttled(30) }, 200_000],
  ])('%s', (_what, { error, ...outcome }, ms) => {
    expect(pollDelay({ ...outcome, error }, () => 0.5)).toBe(ms);
  });

  it('is spread by a tenth to both sides', () => {
    expect([0, 1].map((random) => pollDelay({ everyMs: 1_000, failures: 0, error: undefined }, () => random))).toEqual([
      900, 1_100,
    ]);
  });

  it.each([0, -1, Number.NaN, Infinity])('has no interval of %s', (everyMs) => {
    expect(() => requireInterval('x', everyMs)).toThrow(`x: everyMs ${everyMs} is not valid: expected a number > 0`);
    expect(() => requireInterval('x', 1)).not.toThrow();
  });
});
