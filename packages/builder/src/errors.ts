/**
 * A controller or webhook was defined in a way that cannot work; nothing was started or added. `cause` is the error
 * that a part of the definition threw; an AggregateError if several did.
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_DEFINITION' as const;
  /** Every mistake that was found. */
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[], options?: ErrorOptions) {
    super(`${subject} is not well defined:\n${problems.map((problem) => `- ${problem}`).join('\n')}`, options);
    this.problems = problems;
  }
}

/** Whether an error is a {@link DefinitionError}. */
export function isDefinitionError(error: unknown): error is DefinitionError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_DEFINITION';
}
