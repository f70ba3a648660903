const streamCode = 'KCTL_POD_STREAM';

/** Thrown when a stream to a pod ends prematurely, such as by a lost connection, or a process whose exit is unknown. */
export class PodStreamError extends Error {
  override readonly name = 'PodStreamError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_POD_STREAM' = streamCode;
}

/** Whether an error is a {@link PodStreamError}, also one of another copy of this package. */
export function isPodStreamError(error: unknown): error is PodStreamError {
  return error instanceof Error && 'code' in error && error.code === streamCode;
}

const targetCode = 'KCTL_POD_TARGET';

/** Thrown when a target has no pod, container or port that could be meant. */
export class PodTargetError extends Error {
  override readonly name = 'PodTargetError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_POD_TARGET' = targetCode;
}

/** Whether an error is a {@link PodTargetError}, also one of another copy of this package. */
export function isPodTargetError(error: unknown): error is PodTargetError {
  return error instanceof Error && 'code' in error && error.code === targetCode;
}
