import type { Status } from '@kctl/apimachinery';
import {
  isForbidden,
  isGone,
  isInternalError,
  isNotFound,
  isStatusError,
  isTooLargeResourceVersion,
  isTooManyRequests,
  isUnauthorized,
  StatusError,
} from '@kctl/apimachinery';
import { isFrameError } from '@kctl/apimachinery/internal/wire';
import { messageOf } from '@kctl/telemetry/internal';
import { retryAfterMs } from '@kctl/wait';
import { isIdleWatch, isInitialEvents, isShortWatch } from '../errors.js';
import type { InformerTrouble, TroubleReason } from '../informer-state.js';

/** A failed list or watch, sorted into what the reflector distinguishes. */
export interface Failure extends InformerTrouble {
  /** The pause requested by the server in Retry-After, in ms, at most 5 minutes; 0 if not requested. */
  readonly retryAfterMs: number;
  /** Whether the connection was refused. */
  readonly isConnectionRefused: boolean;
}

/** Longest pause accepted from a server or a proxy, in ms, because the store would be stale for as long. */
const maxRetryAfterMs = 300_000;

/** Classifies the failure of a list or watch. One that cannot even be inspected only means that there was no answer. */
export function classifyFailure(error: unknown): Failure {
  try {
    return sorted(error);
  } catch {
    return {
      reason: 'connection',
      message: 'an error that cannot be read',
      error,
      retryAfterMs: 0,
      isConnectionRefused: false,
    };
  }
}

function sorted(error: unknown): Failure {
  const reason = reasonOf(error);
  return {
    reason,
    message: messageOf(error),
    error,
    retryAfterMs: Math.min(retryAfterMs(error) ?? 0, maxRetryAfterMs),
    isConnectionRefused: reason === 'connection' && hasErrno(error, 'ECONNREFUSED'),
  };
}

/** The failure that an ERROR event carries. */
export function failureOfStatus(status: Status): Failure {
  return classifyFailure(new StatusError(status));
}

function reasonOf(error: unknown): TroubleReason {
  if (isIdleWatch(error)) return 'idle';
  if (isShortWatch(error)) return 'short-watch';
  if (isInitialEvents(error)) return 'initial-events';
  if (isFrameError(error) || hasErrno(error, 'KCTL_DECODE')) return 'decode';
  if (hasErrno(error, 'KCTL_NO_KIND_MATCH')) return 'not-found';
  if (!isStatusError(error)) return 'connection';
  if (isTooLargeResourceVersion(error)) return 'too-large-resource-version';
  if (isGone(error)) return 'expired';
  if (isTooManyRequests(error)) return 'throttled';
  if (isUnauthorized(error)) return 'unauthorized';
  if (isForbidden(error)) return 'forbidden';
  if (isNotFound(error)) return 'not-found';
  if (isInternalError(error)) return 'internal-error';
  return 'status';
}

/**
 * Whether an error or one of its causes carries this code (of the system, or of a package that is not imported here).
 */
function hasErrno(error: unknown, errno: string): boolean {
  let link: unknown = error;
  for (let depth = 0; depth < 8 && typeof link === 'object' && link !== null; depth++) {
    if ('code' in link && link.code === errno) return true;
    if (link instanceof AggregateError && link.errors.some((inner) => hasErrno(inner, errno))) return true;
    link = 'cause' in link ? link.cause : undefined;
  }
  return false;
}
