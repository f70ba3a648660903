/** Of Node's sockets and resolver, and of undici (`fetch`). */
const codes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** How deep a chain of causes is looked at. */
const maxDepth = 8;

/**
 * Whether an error means that a server could not be reached or that the connection to it broke, by the code of the
 * error or of one of its causes, as set by Node's sockets and `fetch`.
 */
export function isConnectionFailure(error: unknown): boolean {
  return isFailure(error, maxDepth);
}

function isFailure(error: unknown, depth: number): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  if ('code' in error && codes.has(error.code)) return true;
  // fetch gives the reason as the cause; other runtimes give none.
  if (error instanceof TypeError && error.message === 'fetch failed' && error.cause === undefined) return true;
  if ('cause' in error && isFailure(error.cause, depth - 1)) return true;
  // One error per address of a name.
  return error instanceof AggregateError && error.errors.some((each) => isFailure(each, depth - 1));
}
