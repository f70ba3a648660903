/** A rule that a run broke. */
export interface Violation {
  /** Name of the rule, e.g. `two-leaders`. */
  readonly rule: string;
  /** What is wrong, and what to do about it. */
  readonly message: string;
  /** When, in ms since the world began. */
  readonly at: number;
  /** The object that it is about, `resource namespace/name`; absent where it is about none. */
  readonly object?: string;
}
