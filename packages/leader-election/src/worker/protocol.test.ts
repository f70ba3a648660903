import { describe, expect, it } from 'vitest';
import { LeaseNotRenewedError } from '../errors.js';
import { fromFailure, toFailure } from './protocol.js';

/** What the other thread gets. */
const cross = (error: unknown): Error => fromFailure(structuredClone(toFailure(error)));

describe('an error that crosses to the other thread', () => {
  it.each<[string, unknown, object]>([
    ['an error', new TypeError('no lock'), { name: 'TypeError', message: 'no lock' }],
    ['a string', 'no lock', { name: 'Error', message: 'no lock' }],
    [
      'one with a code and a cause',
      new LeaseNotRenewedError(5, 4, Object.assign(new Error('down'), { code: 'ECONNREFUSED' })),
      {
        name: 'LeaseNotRenewedError',
        code: 'KCTL_LEASE_NOT_RENEWED',
        cause: { message: 'down', code: 'ECONNREFUSED' },
      },
    ],
  ])('keeps what %s is known by', (_what, error, expected) => {
    const crossed = cross(error);
    expect(crossed).toBeInstanceOf(Error);
    expect(crossed).toMatchObject(expected);
  });

  it('has no code and no cause that it did not have', () => {
    const crossed = cross(Object.assign(new Error('odd'), { code: 5 }));
    expect(['code' in crossed, 'cause' in crossed]).toEqual([false, false]);
  });

  it('is an abort if it was one', () => {
    const crossed = cross(new DOMException('given up', 'AbortError'));
    expect(crossed).toBeInstanceOf(DOMException);
    expect(crossed).toMatchObject({ name: 'AbortError', message: 'given up' });
  });

  it('crosses with five of its causes, which may be a circle', () => {
    const circle = new Error('again');
    circle.cause = circle;
    let depth = 0;
    for (let at: unknown = cross(circle); at instanceof Error; at = at.cause) depth++;
    expect(depth).toBe(6);
  });
});
