const code = 'KCTL_SELECTOR';

/** Thrown when a label or field selector is not well-formed. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_SELECTOR' = code;
  /** The text, or the part of it, that is not valid. */
  readonly selector: string;

  constructor(selector: string, message: string) {
    super(message);
    this.selector = selector;
  }
}

/** Whether an error is a {@link SelectorError}, also one of another copy of this package. */
export function isSelectorError(error: unknown): error is SelectorError {
  return error instanceof Error && 'code' in error && error.code === code;
}
