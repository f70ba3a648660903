import { messageOf } from '@kctl/telemetry/internal';

/** Throw this error, or wrap an error in it, to mark a retry as pointless. There is no retry until the next event. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_TERMINAL' as const;

  constructor(cause: unknown) {
    super(cause === undefined || cause === null ? 'nil terminal error' : `terminal error: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/**
 * Wraps an error so that the controller logs and counts it, but does not retry. Mirrors `reconcile.TerminalError`.
 *
 * @example
 * ```ts
 * import { terminalError, type ReconcileFunction } from '@kctl/controller';
 *
 * const reconcile: ReconcileFunction = async ({ name }) => {
 *   if (name.length > 40) throw terminalError(new Error('the name is too long for a bucket')); // not tried again
 * };
 * ```
 */
export function terminalError(cause: unknown): TerminalError {
  return new TerminalError(cause);
}

/** Whether an error, or one that caused it, is a {@link TerminalError}. */
export function isTerminalError(error: unknown): boolean {
  return someInChain(error, (link) => hasCode(link, 'KCTL_TERMINAL'));
}

/** A reconciler threw instead of rejecting, or failed by a programming mistake (a TypeError, a ReferenceError). */
export class ReconcilePanicError extends Error {
  override readonly name = 'ReconcilePanicError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_RECONCILE_PANIC' as const;

  constructor(cause: unknown) {
    super(`panic: ${messageOf(cause)} [recovered]`, { cause });
  }
}

/** Whether an error is a {@link ReconcilePanicError}. */
export function isReconcilePanicError(error: unknown): error is ReconcilePanicError {
  return hasCode(error, 'KCTL_RECONCILE_PANIC');
}

/** The reason of a reconcile's signal when its reconciliation timeout has passed. */
export class ReconcileTimeoutError extends Error {
  override readonly name = 'ReconcileTimeoutError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_RECONCILE_TIMEOUT' as const;
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`the reconcile took longer than its timeout of ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** Whether an error, or one that caused it, is a {@link ReconcileTimeoutError}. */
export function isReconcileTimeoutError(error: unknown): boolean {
  return someInChain(error, (link) => hasCode(link, 'KCTL_RECONCILE_TIMEOUT'));
}

/** A source of a controller did not start, or did not sync in time. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_SOURCE' as const;
  readonly controller: string;
  readonly source: string;

  constructor(
    message: string,
    where: { readonly controller: string; readonly source: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.controller = where.controller;
    this.source = where.source;
  }
}

/** Whether an error is a {@link SourceError}. */
export function isSourceError(error: unknown): error is SourceError {
  return hasCode(error, 'KCTL_SOURCE');
}

/** A controller was set up or used in a way that cannot work. */
export class ControllerError extends Error {
  override readonly name = 'ControllerError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_CONTROLLER' as const;
}

/** Whether an error is a {@link ControllerError}. */
export function isControllerError(error: unknown): error is ControllerError {
  return hasCode(error, 'KCTL_CONTROLLER');
}

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Whether an error or one of its causes (or of the members of an AggregateError) satisfies the test. False for a value
 * that cannot be inspected, because any value may be thrown.
 */
export function someInChain(error: unknown, test: (error: unknown) => boolean): boolean {
  try {
    return someWithin(error, test, 0);
  } catch {
    return false;
  }
}

function someWithin(error: unknown, test: (error: unknown) => boolean, depth: number): boolean {
  if (test(error)) return true;
  if (!(error instanceof Error) || depth > 16) return false;
  if (error instanceof AggregateError && error.errors.some((member: unknown) => someWithin(member, test, depth + 1)))
    return true;
  return error.cause !== undefined && someWithin(error.cause, test, depth + 1);
}
