const mark: unique symbol = Symbol.for('kctl.notYet') as never;

/** A desired state that cannot be computed yet, and the reason. Created by {@link notYet}. */
export interface NotYet {
  readonly [mark]: true;
  readonly reason: string;
}

/**
 * Returned by `desired` if the state cannot be computed yet, e.g. because a certificate is not issued. The node waits, and
 * an object that exists stays as it is.
 *
 * @param reason for people, without a full stop
 *
 * @example
 * ```ts
 * import { notYet } from '@kctl/dependents';
 *
 * const waiting = notYet('the certificate is not issued');
 * console.log(waiting.reason);
 * ```
 */
export function notYet(reason: string): NotYet {
  if (typeof reason !== 'string' || reason === '')
    throw new TypeError(`notYet: reason ${JSON.stringify(reason)} is not valid: expected a string that is not empty`);
  return Object.freeze({ [mark]: true as const, reason });
}

/** Whether a value was made by {@link notYet}, also by another copy of this package. */
export function isNotYet(value: unknown): value is NotYet {
  return typeof value === 'object' && value !== null && mark in value;
}
