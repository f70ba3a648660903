import { CallSiteError } from './call-site-error.js';
import type { Status, StatusReason } from './status.js';

const code = 'KCTL_STATUS';

/** Thrown when the API server answers with a failure; carries its Status. Mirrors `errors.StatusError`. */
export class StatusError extends CallSiteError {
  override readonly name = 'StatusError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_STATUS' = code;
  /** The status returned by the server. */
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? `the server answered ${status.code ?? 'with an unknown failure'}`, options);
    this.status = status;
  }

  /** The machine-readable reason, 'Unknown' if the server gave none. */
  get reason(): StatusReason {
    return this.status.reason ?? 'Unknown';
  }

  /** The HTTP status code, 0 if unknown. */
  get httpCode(): number {
    return this.status.code ?? 0;
  }
}

/** Whether an error is a {@link StatusError}, also one of another copy of this package. */
export function isStatusError(error: unknown): error is StatusError {
  return error instanceof Error && 'code' in error && error.code === code && 'status' in error;
}

/**
 * Reasons that API servers give. Any other reason, such as one of an aggregated API server, is less specific than the
 * HTTP code.
 */
const knownReasons: ReadonlySet<string> = new Set([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
] satisfies StatusReason[]);

/** A guard by reason, and by the HTTP code if the server gave no known reason, as apimachinery's `errors` does. */
function guard(reason: StatusReason, code: number): (error: unknown) => error is StatusError {
  return (error): error is StatusError => {
    if (!isStatusError(error)) return false;
    const given = error.status.reason ?? '';
    return given === reason || (!knownReasons.has(given) && error.status.code === code);
  };
}

/**
 * 404: there is no such object (or kind).
 *
 * @example
 * ```ts
 * import { isNotFound } from '@kctl/apimachinery';
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * try {
 *   await client.get(Pod, { namespace: 'shop', name: 'web-0' });
 * } catch (error) {
 *   if (!isNotFound(error)) throw error;
 * }
 * ```
 */
export const isNotFound: (error: unknown) => error is StatusError = guard('NotFound', 404);
/** 409 on create, because the name is taken. */
export const isAlreadyExists: (error: unknown) => error is StatusError = (error): error is StatusError =>
  isStatusError(error) && error.status.reason === 'AlreadyExists';
/**
 * 409: the object was modified since it was read, or a precondition failed.
 *
 * @example
 * ```ts
 * import { isConflict, mutableCopy } from '@kctl/apimachinery';
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * try {
 *   await client.update(Pod, mutableCopy(pod));
 * } catch (error) {
 *   if (isConflict(error)) console.log('the object has changed: read it again');
 *   else throw error;
 * }
 * ```
 */
export const isConflict: (error: unknown) => error is StatusError = guard('Conflict', 409);
/** 422: the object is not valid; see `status.details.causes`. */
export const isInvalid: (error: unknown) => error is StatusError = guard('Invalid', 422);
/** 410: the version is no longer available. True for reason `Gone` and `Expired`. */
export const isGone: (error: unknown) => error is StatusError = (error): error is StatusError =>
  isStatusError(error) &&
  (error.status.reason === 'Gone' || error.status.reason === 'Expired' || error.status.code === 410);
/** 410 with reason `Expired`: relist. Mirrors `IsResourceExpired`. */
export const isExpired: (error: unknown) => error is StatusError = (error): error is StatusError =>
  isStatusError(error) && error.status.reason === 'Expired';
/** 401: who are you. */
export const isUnauthorized: (error: unknown) => error is StatusError = guard('Unauthorized', 401);
/** 403: not allowed. */
export const isForbidden: (error: unknown) => error is StatusError = guard('Forbidden', 403);
/** 400. */
export const isBadRequest: (error: unknown) => error is StatusError = guard('BadRequest', 400);
/** 405. */
export const isMethodNotSupported: (error: unknown) => error is StatusError = guard('MethodNotAllowed', 405);
/** 415. */
export const isUnsupportedMediaType: (error: unknown) => error is StatusError = guard('UnsupportedMediaType', 415);
/** 429, for any reason. Try again later; see `status.details.retryAfterSeconds`. */
export const isTooManyRequests: (error: unknown) => error is StatusError = (error): error is StatusError =>
  isStatusError(error) && (error.status.reason === 'TooManyRequests' || error.status.code === 429);
/** 500. */
export const isInternalError: (error: unknown) => error is StatusError = guard('InternalError', 500);
/** 503. */
export const isServiceUnavailable: (error: unknown) => error is StatusError = guard('ServiceUnavailable', 503);
/** 504 with reason `Timeout`. */
export const isTimeout: (error: unknown) => error is StatusError = guard('Timeout', 504);
/** The server could not finish in time and requests a retry. */
export const isServerTimeout: (error: unknown) => error is StatusError = (error): error is StatusError =>
  isStatusError(error) && error.status.reason === 'ServerTimeout';
/** The requested resourceVersion lies in the server's future. Mirrors `IsTooLargeResourceVersion` in the reflector. */
export const isTooLargeResourceVersion: (error: unknown) => error is StatusError = (error): error is StatusError => {
  if (!isStatusError(error)) return false;
  const causes = error.status.details?.causes ?? [];
  if (causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return true;
  const saysSo = (text?: string): boolean => text?.includes('Too large resource version') ?? false;
  return (
    error.status.reason === 'Timeout' && (saysSo(error.status.message) || causes.some((cause) => saysSo(cause.message)))
  );
};
