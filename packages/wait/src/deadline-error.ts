const code = 'KCTL_DEADLINE_EXCEEDED';

/** Thrown when something took longer than it was given. */
export class DeadlineExceededError extends Error {
  override readonly name = 'DeadlineExceededError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_DEADLINE_EXCEEDED' = code;
  /** The time limit, in ms. */
  readonly timeoutMs: number;

  constructor(timeoutMs: number, message?: string, options?: ErrorOptions) {
    super(message ?? `deadline exceeded after ${timeoutMs} ms`, options);
    this.timeoutMs = timeoutMs;
  }
}

/** Whether an error is a {@link DeadlineExceededError}, also one of another copy of this package. */
export function isDeadlineExceeded(error: unknown): error is DeadlineExceededError {
  return error instanceof Error && 'code' in error && error.code === code;
}
