/** A mistake in the program that a handler met after it had warned. Its warnings are answered all the same. */
export class WarnedPanic extends Error {
  override readonly name = 'WarnedPanic';
  readonly warnings: readonly string[];

  constructor(cause: unknown, warnings: readonly string[]) {
    super('a handler failed after it had warned', { cause });
    this.warnings = warnings;
  }
}
