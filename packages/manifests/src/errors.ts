const parseCode = 'KCTL_MANIFEST';

/** Thrown for manifests that are not valid, before anything is sent: each problem, with the place where it is. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_MANIFEST' = parseCode;
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`manifests: ${problems.join('; ')}`, options);
    this.problems = problems;
  }
}

/** Whether an error is a {@link ManifestError}, also one of another copy of this package. */
export function isManifestError(error: unknown): error is ManifestError {
  return error instanceof Error && 'code' in error && error.code === parseCode;
}

const applySetCode = 'KCTL_APPLY_SET';

/** Thrown when an object cannot be the parent of the ApplySet: another tool's, or another set's. Nothing was changed. */
export class ApplySetError extends Error {
  override readonly name = 'ApplySetError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_APPLY_SET' = applySetCode;
}

/** Whether an error is an {@link ApplySetError}, also one of another copy of this package. */
export function isApplySetError(error: unknown): error is ApplySetError {
  return error instanceof Error && 'code' in error && error.code === applySetCode;
}
