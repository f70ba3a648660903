import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createTokenBucket } from './token-bucket.js';

describe('createTokenBucket', () => {
  it('is full at the start, and fills up to its burst', async () => {
    const clock = new FakeClock();
    const bucket = createTokenBucket({ perSecond: 10, burst: 3, clock });
    expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
    await clock.advance(99);
    expect(bucket.tryTake()).toBe(false);
    await clock.advance(1);
    expect(bucket.tryTake()).toBe(true);
    await clock.advance(3_600_000);
    expect(bucket.available).toBe(3);
  });

  it('reserves tokens that are still to come, in order', () => {
    const bucket = createTokenBucket({ perSecond: 10, burst: 1, clock: new FakeClock() });
    expect([1, 2, 3].map(() => bucket.reserve())).toEqual([0, 100, 200]);
    bucket.cancel();
    expect(bucket.reserve()).toBe(200);
  });

  it('waits for a token in the order of the calls', async () => {
    const clock = new FakeClock();
    const bucket = createTokenBucket({ perSecond: 10, clock });
    const order: string[] = [];
    for (const name of ['a', 'b', 'c']) void bucket.take().then((waitedMs) => order.push(`${name} ${waitedMs}`));
    await settle();
    expect(order).toEqual(['a 0']);
    await clock.advance(100);
    expect(order).toEqual(['a 0', 'b 100']);
    await clock.advance(100);
    expect(order).toEqual(['a 0', 'b 100', 'c 200']);
  });

  it('puts the token of an aborted wait back, and leaves no timer', async () => {
    const clock = new FakeClock();
    const bucket = createTokenBucket({ perSecond: 1, clock });
    await bucket.take();
    const abort = new AbortController();
    const waiting = bucket.take({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(bucket.take({ signal: abort.signal })).rejects.toThrow('enough');
    expect(bucket.available).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [{ perSecond: 0 }, 'perSecond 0'],
    [{ perSecond: Number.NaN }, 'perSecond NaN'],
    [{ perSecond: 1, burst: 0.5 }, 'burst 0.5'],
    [{ perSecond: 1, bust: 2 }, 'unknown option "bust": did you mean "burst"?'],
  ])('refuses %o', (options, message) => {
    expect(() => createTokenBucket(options as never)).toThrow(message);
  });
});
