import { StatusError } from '@kctl/apimachinery';
import { FrameError } from '@kctl/apimachinery/internal/wire';
import { describe, expect, it } from 'vitest';
import { IdleWatchError, InitialEventsError, ShortWatchError } from '../errors.js';
import { classifyFailure, failureOfStatus } from './failure.js';

const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
const status = (code: number, reason: string): StatusError =>
  new StatusError({ kind: 'Status', status: 'Failure', code, reason });
/** An error that `depth` others are the cause of each other up to. */
const wrapped = (error: unknown, depth: number): unknown =>
  depth === 0 ? error : new Error('wrapped', { cause: wrapped(error, depth - 1) });

describe('a failed list or watch', () => {
  it.each([
    ['idle', new IdleWatchError('the watch', 1_000)],
    ['short-watch', new ShortWatchError('short')],
    ['initial-events', new InitialEventsError('unended')],
    ['decode', new FrameError('cut')],
    ['decode', Object.assign(new Error('object'), { code: 'KCTL_DECODE' })],
    ['decode', wrapped(Object.assign(new Error('object'), { code: 'KCTL_DECODE' }), 1)],
    ['not-found', Object.assign(new Error('no such kind'), { code: 'KCTL_NO_KIND_MATCH' })],
    ['connection', new Error('socket')],
    ['connection', null],
    ['connection', 'text'],
    ['expired', status(410, 'Expired')],
    ['throttled', status(429, 'TooManyRequests')],
    ['unauthorized', status(401, 'Unauthorized')],
    ['forbidden', status(403, 'Forbidden')],
    ['not-found', status(404, 'NotFound')],
    ['internal-error', status(500, 'InternalError')],
    ['status', status(422, 'Invalid')],
  ])('is %s for %o', (reason, error) => {
    expect(classifyFailure(error)).toMatchObject({ reason, error, isConnectionRefused: false });
  });

  it.each([
    ['itself', refused, true],
    ['a cause of a cause', wrapped(refused, 2), true],
    ['the last cause that is looked at', wrapped(refused, 7), true],
    ['a cause that is too far away', wrapped(refused, 8), false],
    ['one of several attempts', new AggregateError([new Error('timeout'), refused]), true],
    ['none of several attempts', new AggregateError([new Error('timeout'), null]), false],
    ['the cause of one of several attempts', wrapped(new AggregateError([wrapped(refused, 1)]), 1), true],
    ['another code', Object.assign(new Error('socket'), { code: 'ECONNRESET' }), false],
    ['a cause that is none', new Error('socket', { cause: null }), false],
    ['a text as its cause', new Error('socket', { cause: 'ECONNREFUSED' }), false],
  ])('is known as a refused connection by %s', (_what, error, isConnectionRefused) => {
    expect(classifyFailure(error)).toMatchObject({ reason: 'connection', isConnectionRefused });
  });

  it('is not one of a refused connection if the server answered', () => {
    const answered = Object.assign(status(403, 'Forbidden'), { cause: refused });
    expect(classifyFailure(answered)).toMatchObject({ reason: 'forbidden', isConnectionRefused: false });
  });

  it('ends if its causes are a ring', () => {
    const ring = new Error('ring');
    ring.cause = ring;
    expect(classifyFailure(ring)).toMatchObject({ reason: 'connection', isConnectionRefused: false });
  });

  it('means no answer if it cannot be read', () => {
    const hostile = new Proxy(
      {},
      {
        has: () => {
          throw new Error('trap');
        },
        get: () => {
          throw new Error('trap');
        },
      },
    );
    expect(classifyFailure(hostile)).toMatchObject({ reason: 'connection', message: 'an error that cannot be read' });
  });

  it.each([
    [undefined, 0],
    [7, 7_000],
    [86_400, 300_000],
  ])('waits for the %s s that the server requests, at most 5 minutes', (retryAfterSeconds, retryAfterMs) => {
    const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    const given = { kind: 'Status', status: 'Failure', code: 429, reason: 'TooManyRequests', details } as const;
    expect(failureOfStatus(given)).toMatchObject({ reason: 'throttled', retryAfterMs });
  });
});
