/**
 * Whether a rejection is a programming error rather than an external failure. That is a value that is not an Error, a
 * ReferenceError, or a TypeError without a cause (one with a cause is how `fetch` reports a network failure).
 * Corresponds to a nil dereference in Go.
 */
export function isPanic(error: unknown): boolean {
  try {
    if (!(error instanceof Error)) return true;
    return error instanceof ReferenceError || (error instanceof TypeError && error.cause === undefined);
  } catch {
    return true; // it cannot even be looked at
  }
}
