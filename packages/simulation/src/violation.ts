/** A rule that a run broke. */
export interface Violation {
  /** Name of the rule, e.g. `two-leaders`. */
  readonly rule: string;
  /** The problem and its remedy. */
  readonly message: string;
  /** When, in ms since the world began. */
  readonly at: number;
  /** The object concerned, `resource namespace/name`; absent if there is no such object. */
  readonly object?: string;
}
