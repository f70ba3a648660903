// Cases after client-go's `default_rate_limiters_test.go`.
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  bucketRateLimiter,
  defaultControllerRateLimiter,
  defaultItemRateLimiter,
  errorAwareRateLimiter,
  exponentialRateLimiter,
  fastSlowRateLimiter,
  isQueueArgumentError,
  maxOfRateLimiter,
  maxWaitRateLimiter,
} from './index.js';
import type { RateLimiter } from './index.js';

const times = (count: number, limiter: RateLimiter<string>, item = 'one'): number[] =>
  Array.from({ length: count }, () => limiter.when(item));

describe('exponentialRateLimiter', () => {
  it('doubles per item up to the ceiling, and starts over when forgotten', () => {
    const limiter = exponentialRateLimiter({ baseMs: 1, maxMs: 1000 });
    expect(times(5, limiter)).toEqual([1, 2, 4, 8, 16]);
    expect(limiter.numRequeues('one')).toBe(5);
    expect(times(2, limiter, 'two')).toEqual([1, 2]);
    limiter.forget('one');
    expect(limiter.numRequeues('one')).toBe(0);
    expect(limiter.numRequeues('two')).toBe(2);
    expect(limiter.when('one')).toBe(1);
  });

  it('stays at the ceiling however often an item fails', () => {
    const limiter = exponentialRateLimiter({ baseMs: 1, maxMs: 1000 });
    expect(new Set(times(2000, limiter).slice(10))).toEqual(new Set([1000]));
  });

  it('defaults to 5 ms and 1000 s', () => {
    const limiter = exponentialRateLimiter();
    expect(times(30, limiter)[0]).toBe(5);
    expect(limiter.when('one')).toBe(1_000_000);
    expect(defaultItemRateLimiter().when('one')).toBe(1);
  });

  it('spreads delays over their upper half where randomness is given', () => {
    expect(exponentialRateLimiter({ baseMs: 8, random: () => 0 }).when('a')).toBe(4);
    expect(exponentialRateLimiter({ baseMs: 8, random: () => 0.5 }).when('a')).toBe(6);
  });

  it('tells objects apart by their key', () => {
    const limiter = exponentialRateLimiter<{ namespace: string; name: string }>({ baseMs: 1 });
    limiter.when({ namespace: 'x', name: 'a' });
    expect(limiter.when({ namespace: 'x', name: 'a' })).toBe(2);
    expect(limiter.when({ namespace: 'y', name: 'a' })).toBe(1);
  });

  it('names the option that is out of range', () => {
    let thrown: unknown;
    try {
      exponentialRateLimiter({ baseMs: Number.NaN });
    } catch (error) {
      thrown = error;
    }
    expect(isQueueArgumentError(thrown)).toBe(true);
    expect(String(thrown)).toContain('baseMs is NaN: give a finite number ≥ 0');
    expect(() => bucketRateLimiter({ perSecond: 0 })).toThrow('perSecond is 0: give a finite number > 0');
  });
});

describe('fastSlowRateLimiter', () => {
  it('is fast for some failures, then slow, until forgotten', () => {
    const limiter = fastSlowRateLimiter({ fastMs: 5, slowMs: 1000, maxFastAttempts: 3 });
    expect(times(5, limiter)).toEqual([5, 5, 5, 1000, 1000]);
    expect(limiter.numRequeues('one')).toBe(5);
    limiter.forget('one');
    expect(limiter.when('one')).toBe(5);
  });
});

describe('maxOfRateLimiter', () => {
  it('takes the longest delay, lets all limiters count, and forgets in all', () => {
    const fast = fastSlowRateLimiter({ fastMs: 5, slowMs: 3000, maxFastAttempts: 3 });
    const exponential = exponentialRateLimiter({ baseMs: 1, maxMs: 1000 });
    const limiter = maxOfRateLimiter(fast, exponential);
    expect(times(5, limiter)).toEqual([5, 5, 5, 3000, 3000]);
    expect([limiter.numRequeues('one'), exponential.numRequeues('one')]).toEqual([5, 5]);
    limiter.forget('one');
    expect([fast.numRequeues('one'), exponential.numRequeues('one')]).toEqual([0, 0]);
  });

  it('needs a limiter', () => {
    expect(() => maxOfRateLimiter()).toThrow('at least one');
  });
});

describe('maxWaitRateLimiter', () => {
  it('cuts the delay and leaves the count alone', () => {
    const limiter = maxWaitRateLimiter(exponentialRateLimiter({ baseMs: 100 }), 250);
    expect(times(3, limiter)).toEqual([100, 200, 250]);
    expect(limiter.numRequeues('one')).toBe(3);
    limiter.forget('one');
    expect(limiter.when('one')).toBe(100);
  });
});

describe('exponentialRateLimiter without a base', () => {
  it('stays at 0 however often an item fails', () => {
    const limiter = exponentialRateLimiter({ baseMs: 0 });
    for (let failure = 0; failure < 1_100; failure++) expect(limiter.when('a')).toBe(0);
  });

  it('stays at its limit however often an item fails', () => {
    const limiter = exponentialRateLimiter({ baseMs: 5e-324, maxMs: 1 });
    for (let failure = 0; failure < 1_100; failure++) expect(limiter.when('a')).toBeLessThanOrEqual(1);
  });
});

describe('bucketRateLimiter', () => {
  it('lets a burst pass, then one token at a time, and fills up again', () => {
    const clock = new FakeClock();
    const limiter = bucketRateLimiter({ perSecond: 10, burst: 3, clock });
    const next = (count: number): number[] =>
      Array.from({ length: count }, (_, i) => limiter.when(`${clock.now()}-${i}`));
    expect(next(5)).toEqual([0, 0, 0, 100, 200]);
    clock.advanceSync(200);
    expect(next(1)).toEqual([100]);
    clock.advanceSync(10_000);
    expect(next(4)).toEqual([0, 0, 0, 100]);
    expect(limiter.numRequeues('x')).toBe(0);
  });

  it('gives a key whose token is still to come that token again, so that a hot key cannot run up the delays', () => {
    const clock = new FakeClock();
    const limiter = bucketRateLimiter({ perSecond: 10, burst: 1, clock });
    limiter.when('first');
    expect(times(1000, limiter, 'hot')).toEqual(Array.from({ length: 1000 }, () => 100));
    expect(limiter.when('other')).toBe(200);
    clock.advanceSync(150);
    expect(limiter.when('hot')).toBe(150);
  });

  it('takes a token for each call, as client-go does, where coalescing is off', () => {
    const limiter = bucketRateLimiter({ perSecond: 10, burst: 1, coalesce: false, clock: new FakeClock() });
    expect(times(4, limiter)).toEqual([0, 100, 200, 300]);
  });

  it('refuses a rate of 0', () => {
    expect(() => bucketRateLimiter({ perSecond: 0 })).toThrow('perSecond');
  });
});

describe('defaultControllerRateLimiter', () => {
  it('is the longer of exponential from 5 ms and ten per second after a burst of 100', () => {
    const limiter = defaultControllerRateLimiter({ clock: new FakeClock() });
    const delays = Array.from({ length: 101 }, (_, number) => limiter.when(`item-${number}`));
    expect([delays[0], delays[99], delays[100]]).toEqual([5, 5, 100]);
    expect(limiter.when('item-0')).toBe(200);
    expect(limiter.numRequeues('item-0')).toBe(2);
  });
});

describe('errorAwareRateLimiter', () => {
  const conflict = new Error('conflict');
  const make = (): RateLimiter<string> =>
    errorAwareRateLimiter({
      rules: [
        {
          matches: (error) => error === conflict,
          limiter: fastSlowRateLimiter({ fastMs: 1, slowMs: 2, maxFastAttempts: 9 }),
        },
      ],
      otherwise: exponentialRateLimiter({ baseMs: 100 }),
      maxRetryAfterMs: 60_000,
    });

  it('lets the class of the failure decide, each with its own count', () => {
    const limiter = make();
    const other = new Error('other');
    expect([conflict, other, conflict, other, undefined].map((error) => limiter.when('a', { error }))).toEqual([
      1, 100, 1, 200, 400,
    ]);
    expect(limiter.when('a')).toBe(800);
    expect(limiter.numRequeues('a')).toBe(6);
    limiter.forget('a');
    expect(limiter.numRequeues('a')).toBe(0);
    expect(limiter.when('a', { error: other })).toBe(100);
  });

  it('waits at least as long as the server asked for, within a ceiling', () => {
    const limiter = make();
    const throttled = Object.assign(new Error('429'), { status: { details: { retryAfterSeconds: 7 } } });
    expect(limiter.when('a', { error: throttled })).toBe(7000);
    for (let i = 0; i < 8; i++) limiter.when('a', { error: throttled });
    expect(limiter.when('a', { error: throttled })).toBe(51_200);
    expect(limiter.when('b', { error: { retryAfterMs: 1e9 } })).toBe(60_000);
  });
});
