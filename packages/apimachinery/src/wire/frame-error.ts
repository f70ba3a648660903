const code = 'KCTL_FRAME';

/** Thrown when the bytes of a list or watch are not complete, well-formed JSON frames. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_FRAME' = code;
}

/** Whether an error is a {@link FrameError}, also one of another copy of this package. */
export function isFrameError(error: unknown): error is FrameError {
  return error instanceof Error && 'code' in error && error.code === code;
}
