import { StatusError } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { terminalError } from '../reconciler/errors.js';
import { believedRetryAfterMs, createRetryPolicy, retryAfterMs, type RetryPolicyOptions } from './retry-policy.js';

const asks = (code: number, retryAfterSeconds: number): StatusError =>
  new StatusError({
    code,
    reason: code === 429 ? 'TooManyRequests' : 'ServiceUnavailable',
    details: { retryAfterSeconds },
  });
const plain = new Error('plain');

describe('the pause that a server requests', () => {
  it.each<[string, unknown, number | undefined]>([
    ['a 429', asks(429, 7), 7_000],
    ['a 503', asks(503, 7), 7_000],
    ['an error that wraps one', new Error('outer', { cause: new Error('middle', { cause: asks(503, 7) }) }), 7_000],
    ['the outer of two', Object.assign(asks(429, 7), { cause: asks(503, 9) }), 7_000],
    ['one of several errors', new AggregateError([plain, asks(429, 7)]), 7_000],
    ['a 500', asks(500, 7), undefined],
    ['a 409', asks(409, 7), undefined],
    ['a 429 without a time', new StatusError({ code: 429, reason: 'TooManyRequests' }), undefined],
    [
      'an error with a field of that name',
      Object.assign(new Error('x'), { retryAfterMs: 7_000, httpCode: 503 }),
      undefined,
    ],
    ['an error without one', plain, undefined],
    ['undefined', undefined, undefined],
  ])('is taken from %s', (_what, error, ms) => {
    expect([retryAfterMs(error), believedRetryAfterMs(error)]).toEqual([ms, ms]);
  });

  it('is believed up to five minutes', () => {
    expect([299, 300, 301, 86_400].map((seconds) => believedRetryAfterMs(asks(429, seconds)))).toEqual([
      299_000, 300_000, 300_000, 300_000,
    ]);
    expect(retryAfterMs(asks(429, 86_400))).toBe(86_400_000);
  });
});

describe('createRetryPolicy', () => {
  const stop = { type: 'stop' };
  const backoff = { type: 'backoff' };
  const special = { type: 'retry', afterMs: 3 } as const;

  it.each<[string, RetryPolicyOptions, { error?: unknown; attempt?: number; elapsedMs?: number }, object]>([
    ['backs off without end', {}, { attempt: 1e6, elapsedMs: 1e12 }, backoff],
    [
      'gives up a terminal error before anything else',
      { classify: () => special },
      { error: terminalError(plain) },
      stop,
    ],
    ['gives up after the last attempt', { maxAttempts: 3 }, { attempt: 3 }, stop],
    ['goes on before the last attempt', { maxAttempts: 3 }, { attempt: 2 }, backoff],
    ['gives up after the longest time', { maxElapsedMs: 100 }, { elapsedMs: 100 }, stop],
    ['goes on before the longest time', { maxElapsedMs: 100 }, { elapsedMs: 99 }, backoff],
    ['decides by the class of the error before the limits', { maxAttempts: 1, classify: () => special }, {}, special],
    ['decides by the rest without a class', { maxAttempts: 1, classify: () => undefined }, {}, stop],
    [
      'gives the class the error and the attempt',
      { classify: (error, attempt) => (error === plain && attempt === 4 ? special : undefined) },
      { attempt: 4 },
      special,
    ],
    [
      'waits for as long as planned',
      { delayMs: (attempt) => attempt * 10 },
      { attempt: 4 },
      { type: 'retry', afterMs: 40 },
    ],
    ['waits for as long as the server says', {}, { error: asks(429, 7) }, { type: 'retry', afterMs: 7_000 }],
    [
      'waits for the longer of both, the server',
      { delayMs: () => 10 },
      { error: asks(503, 7) },
      { type: 'retry', afterMs: 7_000 },
    ],
    [
      'waits for the longer of both, the plan',
      { delayMs: () => 9_000 },
      { error: asks(503, 7) },
      { type: 'retry', afterMs: 9_000 },
    ],
  ])('%s', (_what, options, { error = plain, attempt = 1, elapsedMs = 0 }, decision) => {
    expect(createRetryPolicy(options).decide({ error, attempt, elapsedMs })).toEqual(decision);
  });

  it('states its last attempt', () => {
    expect([createRetryPolicy({ maxAttempts: 5 }).maxAttempts, createRetryPolicy().maxAttempts]).toEqual([5, Infinity]);
  });

  it.each<[object, string]>([
    [{ maxAttempts: 0 }, 'maxAttempts 0 is not valid: expected an integer ≥ 1'],
    [{ maxAttempts: 1.5 }, 'maxAttempts 1.5 is not valid'],
    [{ maxElapsedMs: -1 }, 'maxElapsedMs -1 is not valid'],
    [{ delayMs: 5 }, 'delayMs'],
    [{ classify: 'no' }, 'classify'],
    [{ maxAttempt: 3 }, 'unknown option "maxAttempt": did you mean "maxAttempts"?'],
  ])('refuses %o', (options, message) => {
    expect(() => createRetryPolicy(options)).toThrow(message);
  });
});
