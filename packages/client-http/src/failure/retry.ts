import { errorCode } from './explain-failure.js';
import { isTransportError } from '../errors.js';

/** client-go waits this long after a transport error, in ms. */
export const transportRetryMs = 1_000;
/** A longer Retry-After, in ms, is not waited for, and the error is returned to the caller. */
export const maxRetryAfterMs = 60_000;

/** A server requested a pause. Ends an attempt, and is never thrown to a caller. */
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
 * Reports whether a server may use this status to request a repetition. After a 429 the request was certainly not
 * executed; a 5xx may also mean that the outcome is unknown, which does not matter if the request is idempotent.
 */
export function isRetryableStatus(status: number, once: boolean): boolean {
  return status === 429 || (status >= 500 && !once);
}

const lostConnection = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ECONNABORTED']);

/**
 * Reports whether a failed request may be repeated. client-go repeats a GET whose connection was lost, and never a
 * refused connection. Here this also covers any request that certainly was never sent on a connection that was then
 * lost.
 */
export function isRetryableFailure(error: unknown, method: string): boolean {
  if (!isTransportError(error) || error.failure !== 'reset') return false;
  const code = errorCode(error.cause);
  return code !== undefined && lostConnection.has(code) && (method === 'GET' || !error.maybeSent);
}
