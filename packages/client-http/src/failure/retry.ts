import { errorCode } from './explain-failure.js';
import { isTransportError } from '../errors.js';

/** client-go waits this long after a transport error, in ms. */
export const transportRetryMs = 1_000;
/** A longer Retry-After, in ms, is not waited for: the error is returned to the caller. */
export const maxRetryAfterMs = 60_000;

/** A server asked for a pause: ends an attempt, and is never thrown to a caller. */
export class AskedToWait extends Error {
  readonly status: number;
  readonly waitMs: number;

  constructor(status: number, waitMs: number) {
    super(`the server answered ${status} with Retry-After`);
    this.status = status;
    this.waitMs = waitMs;
  }
}

/**
 * Whether a status is one with which the server may ask to repeat the request. After a 429 it was surely not executed;
 * a 5xx may also mean that the outcome is unknown, which does not matter where executing it twice is as good as once.
 */
export function isRetryableStatus(status: number, once: boolean): boolean {
  return status === 429 || (status >= 500 && !once);
}

const lostConnection = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ECONNABORTED']);

/**
 * Whether a failed request may be repeated. client-go: a GET whose connection was lost, never a refused connection.
 * Here also any request that surely was never sent on a connection that was then lost.
 */
export function isRetryableFailure(error: unknown, method: string): boolean {
  if (!isTransportError(error) || error.failure !== 'reset') return false;
  const code = errorCode(error.cause);
  return code !== undefined && lostConnection.has(code) && (method === 'GET' || !error.maybeSent);
}
