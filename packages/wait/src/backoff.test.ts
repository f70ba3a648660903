import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBackoff } from './backoff.js';
import { FakeClock } from './testing/index.js';

describe('Backoff', () => {
  it('grows by the factor up to the cap', () => {
    const backoff = createBackoff({ initialMs: 800, factor: 2, capMs: 30_000, clock: new FakeClock() });
    const delays = Array.from({ length: 8 }, () => backoff.next());
    expect(delays).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    expect(backoff.attempts).toBe(8);
  });

  it('caps even the first delay', () => {
    expect(createBackoff({ initialMs: 50, capMs: 10 }).next()).toBe(10);
  });

  it('adds a share of the delay at random', () => {
    const randoms = [0, 0.5, 0.999];
    const backoff = createBackoff({ initialMs: 100, factor: 1, jitter: 1, random: () => randoms.shift() ?? 0 });
    expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([100, 150, 199.9]);
  });

  it('does not let jitter grow the next delay', () => {
    const backoff = createBackoff({ initialMs: 100, factor: 2, jitter: 1, random: () => 0.9 });
    expect([backoff.next(), backoff.next()]).toEqual([190, 380]);
  });

  it('starts over after a quiet period, counted from the end of the last delay', () => {
    const clock = new FakeClock();
    const backoff = createBackoff({ initialMs: 1000, factor: 10, resetAfterMs: 5000, clock });
    backoff.next();
    expect(backoff.next()).toBe(10_000);
    clock.advanceSync(10_000 + 4999);
    expect(backoff.next()).toBe(100_000);
    clock.advanceSync(100_000 + 5000);
    expect(backoff.next()).toBe(1000);
    expect(backoff.attempts).toBe(1);
  });

  it('never starts over in a long outage', () => {
    const clock = new FakeClock();
    const backoff = createBackoff({ initialMs: 800, capMs: 30_000, resetAfterMs: 120_000, clock });
    let delay = 0;
    for (let i = 0; i < 100; i++) {
      delay = backoff.next();
      clock.advanceSync(delay);
    }
    expect(delay).toBe(30_000);
  });

  it('starts over on demand', () => {
    const backoff = createBackoff({ initialMs: 1, factor: 3 });
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.attempts).toBe(0);
    expect(backoff.next()).toBe(1);
  });

  it('keeps every delay between the base and the base plus its jitter', () => {
    const shape = fc.record({
      initialMs: fc.integer({ min: 0, max: 1e6 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      jitter: fc.double({ min: 0, max: 2, noNaN: true }),
      capMs: fc.integer({ min: 0, max: 1e9 }),
    });
    fc.assert(
      fc.property(shape, fc.double({ min: 0, max: 0.999, noNaN: true }), (options, random) => {
        const backoff = createBackoff({ ...options, random: () => random });
        for (let i = 0; i < 30; i++) {
          const base = Math.min(options.initialMs * options.factor ** i, options.capMs);
          const delay = backoff.next();
          expect(delay).toBeGreaterThanOrEqual(base * 0.999999);
          expect(delay).toBeLessThanOrEqual(base * (1 + options.jitter) * 1.000001);
        }
      }),
    );
  });

  it.each([
    [{ initialMs: Infinity }, [Infinity, Infinity]],
    [{ initialMs: Infinity, jitter: 1 }, [Infinity, Infinity]],
    [{ initialMs: Infinity, capMs: 10 }, [10, 10]],
    [{ initialMs: 0, factor: Infinity }, [0, 0]],
    [{ initialMs: 1, factor: Infinity }, [1, Infinity]],
  ])('takes %j to its end', (options, delays) => {
    const backoff = createBackoff({ ...options, clock: new FakeClock(), random: () => 0 });
    expect([backoff.next(), backoff.next()]).toEqual(delays);
  });

  it('gives a number for every option that is allowed', () => {
    const share = fc.constantFrom(0, 1e-300, 0.5, 1, 1e300);
    const amount = fc.oneof(share, fc.constant(Infinity));
    const factor = fc.constantFrom(1, 2, 1e300, Infinity);
    fc.assert(
      fc.property(amount, factor, fc.tuple(share, amount), amount, (initialMs, by, [jitter, resetAfterMs], capMs) => {
        const clock = new FakeClock();
        for (const random of [0, 0.5, 0.999]) {
          const backoff = createBackoff({
            initialMs,
            factor: by,
            jitter,
            capMs,
            resetAfterMs,
            clock,
            random: () => random,
          });
          for (let attempt = 0; attempt < 5; attempt++) {
            const delay = backoff.next();
            expect(delay).toBeGreaterThanOrEqual(0);
            // A cap that a sleep can reach is one that it does reach.
            if (capMs <= 1 && jitter <= 1) expect(delay).toBeLessThanOrEqual(2);
          }
        }
      }),
    );
  });

  it.each([
    [{ initialMs: -1 }, 'initialMs -1'],
    [{ initialMs: Number.NaN }, 'initialMs NaN'],
    [{ initialMs: 1, factor: 0.5 }, 'factor 0.5'],
    [{ initialMs: 1, jitter: -0.1 }, 'jitter -0.1'],
    [{ initialMs: 1, jitter: Infinity, capMs: 10 }, 'jitter Infinity'],
    [{ initialMs: 1, capMs: -5 }, 'capMs -5'],
  ])('refuses %j', (options, text) => {
    expect(() => createBackoff(options)).toThrow(text);
  });
});
