/**
 * Whether a rejection is a mistake in the program rather than a failure of the world: something that is not an Error, a
 * ReferenceError, or a TypeError without a cause (one with a cause is how `fetch` reports a network failure). It is
 * what a nil dereference is in Go.
 */
export function isPanic(error: unknown): boolean {
  try {
    if (!(error instanceof Error)) return true;
    return error instanceof ReferenceError || (error instanceof TypeError && error.cause === undefined);
  } catch {
    return true; // it cannot even be looked at
  }
}
