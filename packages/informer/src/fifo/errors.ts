/** Thrown by `pop` of a queue that is closed and empty. Mirrors `cache.ErrFIFOClosed`. */
export class FifoClosedError extends Error {
  override readonly name = 'FifoClosedError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_FIFO_CLOSED' as const;

  constructor() {
    super('DeltaFIFO: manipulating with closed queue');
  }
}

/** Thrown by the process function of `pop` to have the deltas queued again; `pop` rejects with its cause. Mirrors `cache.ErrRequeue`. */
export class RequeueError extends Error {
  override readonly name = 'RequeueError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_FIFO_REQUEUE' as const;

  constructor(cause?: unknown) {
    super('the popped item should be requeued', cause === undefined ? undefined : { cause });
  }
}

/** Whether an error is a {@link FifoClosedError}, also one of another copy of this package. */
export function isFifoClosed(error: unknown): error is FifoClosedError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_FIFO_CLOSED';
}

/** Whether an error is a {@link RequeueError}, also one of another copy of this package. */
export function isRequeueError(error: unknown): error is RequeueError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_FIFO_REQUEUE';
}
