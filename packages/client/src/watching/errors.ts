/** Thrown if a stream of events has ended before the expected one. Mirrors `watch.ErrWatchClosed`. */
export class WatchClosedError extends Error {
  override readonly name = 'WatchClosedError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_WATCH_CLOSED' as const;
}

/** Whether an error is a {@link WatchClosedError}, of this copy of the package or another. */
export function isWatchClosed(error: unknown): error is WatchClosedError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_WATCH_CLOSED';
}
