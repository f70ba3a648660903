import { requireOptions, shownValue, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { GetOptions } from './worker-pool.js';

const argumentCode = 'KCTL_WORKQUEUE_ARGUMENT';
const fullCode = 'KCTL_WORKQUEUE_FULL';
const workCode = 'KCTL_WORKQUEUE_WORK_FAILED';

/** Thrown for an option or argument that a queue or limiter cannot use; names the field, the value, the remedy. */
export class QueueArgumentError extends TypeError {
  override readonly name = 'QueueArgumentError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_WORKQUEUE_ARGUMENT' = argumentCode;
  /** The option or argument. */
  readonly field: string;
  /** The given value. */
  readonly value: unknown;

  constructor(field: string, value: unknown, remedy: string) {
    super(`${field} is ${shownValue(value)}: ${remedy}`);
    this.field = field;
    this.value = value;
  }
}

/** Whether an error is a {@link QueueArgumentError}, also one of another copy of this package. */
export function isQueueArgumentError(error: unknown): error is QueueArgumentError {
  return error instanceof Error && 'code' in error && error.code === argumentCode;
}

/** Thrown by an add that finds a bounded queue full and whose overflow rule is `throw`. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_WORKQUEUE_FULL' = fullCode;
  /** The bound that was reached. */
  readonly maxPending: number;
  /** The item that was not added. */
  readonly item: unknown;

  constructor(maxPending: number, item: unknown) {
    super(
      `the queue holds maxPending = ${maxPending} keys already: add later, raise bound.maxPending or choose another bound.overflow`,
    );
    this.maxPending = maxPending;
    this.item = item;
  }
}

/** Whether an error is a {@link QueueFullError}, also one of another copy of this package. */
export function isQueueFullError(error: unknown): error is QueueFullError {
  return error instanceof Error && 'code' in error && error.code === fullCode;
}

/**
 * The error of a pool when work fails on a queue without rate limiter and no `onError` is set to decide. Names the key;
 * the failure is the cause.
 */
export class WorkFailedError extends Error {
  override readonly name = 'WorkFailedError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_WORKQUEUE_WORK_FAILED' = workCode;
  /** The item whose work failed. It is in the queue again, unless that was shut down and hands out nothing more. */
  readonly item: unknown;

  constructor(key: string | number, item: unknown, cause: unknown) {
    const name = typeof key === 'string' ? JSON.stringify(shownKey(key)) : String(key);
    const reason = cause instanceof Error ? cause.message : shownValue(cause);
    super(`work on ${name} failed: ${reason}`, { cause });
    this.item = item;
  }
}

/** Key for people: the parts of a composite key are joined by slashes. */
export function shownKey(key: string | number): string {
  return typeof key === 'string' ? key.split('\0').filter(Boolean).join('/') : String(key);
}

/** Whether an error is a {@link WorkFailedError}, also one of another copy of this package. */
export function isWorkFailedError(error: unknown): error is WorkFailedError {
  return error instanceof Error && 'code' in error && error.code === workCode;
}

/** @throws QueueArgumentError unless `value` is a finite number ≥ `least` */
export function requireNumber(field: string, value: number, least: number = -Infinity): void {
  if (Number.isFinite(value) && value >= least) return;
  throw new QueueArgumentError(field, value, `give a finite number${bound(least)}`);
}

/** @throws QueueArgumentError unless `value` is a function */
export function requireFunction(field: string, value: unknown): void {
  if (typeof value !== 'function') throw new QueueArgumentError(field, value, 'give a function');
}

const getNames: OptionNames<GetOptions> = { signal: signalOption };

/** Of a call that has none. */
export const noGetOptions: GetOptions = {};

/**
 * An error in the options of a wait. If found while waiting, an invalid signal would leave behind a waiter that takes a
 * key; a misspelled option would be ignored.
 */
export function getProblem(what: string, options: GetOptions): Error | undefined {
  if (options === noGetOptions) return undefined;
  try {
    requireOptions(what, options, getNames);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error), { cause: error });
  }
}

/** @throws QueueArgumentError unless `value` is an integer ≥ `least` */
export function requireInteger(field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new QueueArgumentError(field, value, `give an integer ≥ ${least}`);
}

function bound(least: number): string {
  if (least === Number.MIN_VALUE) return ' > 0';
  return least === -Infinity ? '' : ` ≥ ${least}`;
}
