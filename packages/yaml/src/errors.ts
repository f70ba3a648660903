const code = 'KCTL_YAML';

/** Thrown for a string that is not YAML, or that has no JSON form. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_YAML' = code;
  /** Line of the string, from 1. */
  readonly line: number;
  /** The message without the line. */
  readonly reason: string;

  constructor(reason: string, line: number, options?: ErrorOptions) {
    super(`line ${line}: ${reason}`, options);
    this.line = line;
    this.reason = reason;
  }
}

/** Whether an error is a {@link YamlError}, also one of another copy of this package. */
export function isYamlError(error: unknown): error is YamlError {
  return error instanceof Error && 'code' in error && error.code === code;
}
