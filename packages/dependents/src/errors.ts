import type { DependentsResult } from './results.js';

/** An error of one node. */
export interface NodeError {
  /** The name of the node, with the id if it is a set, e.g. `routes/main`. */
  readonly node: string;
  readonly error: Error;
}

/**
 * Thrown by `reconcile` after all nodes ran, if some of them failed. Its `result` is that of the whole run. A controller takes
 * it as terminal only if every failure in it is.
 */
export class DependentsError extends AggregateError {
  override readonly name = 'DependentsError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_DEPENDENTS_FAILED' as const;
  readonly failures: readonly NodeError[];
  /** How far all nodes are, for the status. */
  readonly result: DependentsResult;

  constructor(subject: string, failures: readonly NodeError[], result: DependentsResult) {
    const list = failures.map(({ node, error }) => `${node}: ${error.message}`).join('; ');
    super(
      failures.map(({ error }) => error),
      `dependents of ${subject}: ${list}`,
    );
    this.failures = failures;
    this.result = result;
  }
}

/** Whether an error is a {@link DependentsError}, also one of another copy of this package. */
export function isDependentsError(error: unknown): error is DependentsError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_DEPENDENTS_FAILED';
}

/** Thrown for a definition with mistakes, all of which are named. */
export class DependentsDefinitionError extends Error {
  override readonly name = 'DependentsDefinitionError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_DEPENDENTS_DEFINITION' as const;
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`dependents of ${subject}: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

/** Why a node cannot go on, with a reason for programs. Waiting does not help if it is `stalled`. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  readonly reason: string;
  readonly stalled: boolean;
  readonly paths: readonly string[];

  constructor(
    reason: string,
    message: string,
    options: ErrorOptions & { readonly stalled?: boolean; readonly paths?: readonly string[] } = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.stalled = options.stalled ?? true;
    this.paths = options.paths ?? [];
  }
}
