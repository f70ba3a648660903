import { StatusError } from '@kctl/apimachinery';

/** 404 for a path that is not an object. */
export function notFound(message: string): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'NotFound',
    details: {},
    code: 404,
  });
}

/** 503 with Retry-After. */
export function serviceUnavailable(message: string): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'ServiceUnavailable',
    details: { retryAfterSeconds: 1 },
    code: 503,
  });
}

/** 504 of a request that took too long. */
export function timedOut(): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Timeout: request did not complete within the allotted timeout',
    reason: 'Timeout',
    details: {},
    code: 504,
  });
}

/** 406 in the words of built-in resources. */
export function noRepresentation(accepted: readonly string[]): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `406: Not Acceptable\n\nAvailable representations: ${accepted.join(', ')}`,
    reason: 'NotAcceptable',
    details: {},
    code: 406,
  });
}

/** 415 of a patch in the words of built-in resources. */
export function unsupportedPatchType(): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: '415: Unsupported Media Type',
    reason: 'UnsupportedMediaType',
    details: {},
    code: 415,
  });
}
