/** Thrown when there are no binaries of a real API server. */
export class NoBinariesError extends Error {
  override readonly name = 'NoBinariesError';
  readonly code = 'KCTL_NO_BINARIES' as const;
}

/** Thrown when a component ended, or was not ready in time, during the start. The message ends with its last log lines. */
export class EnvironmentStartError extends Error {
  override readonly name = 'EnvironmentStartError';
  readonly code = 'KCTL_ENVIRONMENT_START' as const;
}

/** Whether an error is a {@link NoBinariesError}, also one of another copy of this package. */
export function isNoBinaries(error: unknown): error is NoBinariesError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_NO_BINARIES';
}
