import { describe, expect, it } from 'vitest';
import * as guards from './status-error.js';
import type { Status } from './status.js';

const { StatusError, isStatusError } = guards;
type Guard = (error: unknown) => boolean;
const all: Readonly<Record<string, Guard>> = Object.fromEntries(
  Object.entries(guards).filter(([name]) => name.startsWith('is') && name !== 'isStatusError'),
) as Record<string, Guard>;

/** The names of the guards that a status passes. */
const passed = (status: Status): string[] =>
  Object.entries(all)
    .filter(([, guard]) => guard(new StatusError(status)))
    .map(([name]) => name)
    .sort();

describe('guards of status errors', () => {
  it.each<[Status, string[]]>([
    [{ code: 404, reason: 'NotFound' }, ['isNotFound']],
    [{ code: 404 }, ['isNotFound']],
    [{ code: 409, reason: 'Conflict' }, ['isConflict']],
    [{ code: 409, reason: 'AlreadyExists' }, ['isAlreadyExists']],
    [{ code: 410, reason: 'Expired' }, ['isExpired', 'isGone']],
    [{ code: 410, reason: 'Gone' }, ['isGone']],
    [{ code: 410 }, ['isGone']],
    [{ code: 422, reason: 'Invalid' }, ['isInvalid']],
    [{ code: 429, reason: 'TooManyRequests' }, ['isTooManyRequests']],
    [{ code: 500, reason: 'InternalError' }, ['isInternalError']],
    [{ code: 500, reason: 'ServerTimeout' }, ['isServerTimeout']],
    [{ code: 504, reason: 'Timeout' }, ['isTimeout']],
    [
      { code: 504, reason: 'Timeout', message: 'Too large resource version: 9' },
      ['isTimeout', 'isTooLargeResourceVersion'],
    ],
    [
      { code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
      ['isTimeout', 'isTooLargeResourceVersion'],
    ],
    [{ code: 401, reason: 'Unauthorized' }, ['isUnauthorized']],
    [{ code: 403, reason: 'Forbidden' }, ['isForbidden']],
    [{ code: 418 }, []],
    // A reason that is not known leaves it to the code; one that is known does not.
    [{ code: 404, reason: 'WidgetMissing' }, ['isNotFound']],
    [{ code: 409, reason: 'Stale' }, ['isConflict']],
    [{ code: 503, reason: 'Unknown' }, ['isServiceUnavailable']],
    [{ code: 404, reason: 'Forbidden' }, ['isForbidden']],
    [{ code: 429, reason: 'ServiceUnavailable' }, ['isServiceUnavailable', 'isTooManyRequests']],
  ])('%j passes %j', (status, expected) => {
    expect(passed(status)).toEqual(expected);
  });

  it('know errors of another copy of the package, and nothing else', () => {
    const other = Object.assign(new Error('gone'), { code: 'KCTL_STATUS', status: { code: 404, reason: 'NotFound' } });
    expect([isStatusError(other), guards.isNotFound(other)]).toEqual([true, true]);
    for (const value of [null, undefined, 404, new Error('404'), { code: 'KCTL_STATUS' }])
      expect(isStatusError(value)).toBe(false);
  });

  it('say what the server said', () => {
    const error = new StatusError({ code: 403, message: 'no' });
    expect([error.name, error.message, error.reason, error.httpCode]).toEqual(['StatusError', 'no', 'Unknown', 403]);
    expect(new StatusError({}).httpCode).toBe(0);
  });
});
