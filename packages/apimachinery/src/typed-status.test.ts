import { describe, expect, it } from 'vitest';
import { isTooLargeResourceVersion, StatusError, type Status } from './index.js';
import { typedStatus } from './internal/index.js';

const loose = (members: object): Status => ({ kind: 'Status', ...members });

describe('typedStatus', () => {
  it('keeps what is of its type, and what it does not know', () => {
    const whole = loose({
      apiVersion: 'v1',
      status: 'Failure',
      message: '',
      reason: 'Invalid',
      code: 422,
      metadata: {},
      details: { name: 'a', retryAfterSeconds: 1, causes: [{ reason: 'x', message: 'm', field: 'spec' }] },
      other: 1,
    });
    expect(typedStatus(whole)).toEqual(whole);
    expect(typedStatus(whole)).not.toBe(whole);
  });

  it.each([
    [{ message: 5, reason: {}, code: '409', status: true }, {}],
    [{ code: 0, message: null, details: null, metadata: 'x' }, {}],
    [{ code: -1 }, {}],
    [{ code: 409.5 }, {}],
    [{ details: [] }, {}],
    [{ details: { causes: {}, name: 7, retryAfterSeconds: '1' } }, { details: {} }],
    [{ details: { causes: [null, 'a', [], { field: 1, message: 'm' }] } }, { details: { causes: [{ message: 'm' }] } }],
  ])('leaves out what is not: %j', (given, kept) => {
    expect(typedStatus(loose(given))).toEqual({ kind: 'Status', ...kept });
  });

  it('makes a Status that the guards can read', () => {
    const given = loose({ reason: 'Timeout', message: 5, details: { causes: { a: 1 } } });
    expect(isTooLargeResourceVersion(new StatusError(typedStatus(given)))).toBe(false);
  });
});
