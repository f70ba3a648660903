import { isConflict } from '@kctl/apimachinery';
import { clockOption, functionOption, numberProblem, requireOptions, signalOption, shownType } from '@kctl/options';
import { createBackoff, retry, systemClock } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { BackoffOptions, Clock, Random } from '@kctl/wait';
import type { AbortOptions } from './options.js';
import { requireOptionsObject } from './checks/require-arguments.js';

/** How often and how fast a conflict is retried. */
export interface ConflictRetry extends Pick<BackoffOptions, 'initialMs' | 'factor' | 'jitter' | 'capMs'> {
  /** Attempts, the first one included. */
  readonly maxAttempts: number;
}

/** client-go's `retry.DefaultRetry`: for objects that several clients change now and then. */
export const defaultRetry: ConflictRetry = { maxAttempts: 5, initialMs: 10, factor: 1, jitter: 0.1 };

/** client-go's `retry.DefaultBackoff`: for objects that many clients change all the time. */
export const defaultBackoff: ConflictRetry = { maxAttempts: 4, initialMs: 10, factor: 5, jitter: 0.1 };

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions extends AbortOptions {
  /** @default defaultRetry */
  readonly backoff?: ConflictRetry;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

const optionNames: OptionNames<RetryOnConflictOptions> = {
  backoff: true,
  clock: clockOption,
  random: functionOption,
  signal: signalOption,
};

/**
 * Repeats work that fails with a conflict. The work must read the object anew each time, change it and write it;
 * repeating the same write conflicts again. Mirrors `retry.RetryOnConflict`.
 *
 * @throws what the work throws, when it is not a conflict or no attempt is left; the signal's reason on abort
 *
 * @example
 * ```ts
 * import { mutableCopy } from '@kctl/apimachinery';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { retryOnConflict } from '@kctl/client';
 *
 * await retryOnConflict(async () => {
 *   const draft = mutableCopy(await client.get(ConfigMap, { namespace: 'shop', name: 'settings' }));
 *   draft.data = { ...draft.data, colour: 'blue' };
 *   await client.update(ConfigMap, draft);
 * });
 * ```
 */
export async function retryOnConflict<T>(
  work: (attempt: number) => T | Promise<T>,
  options: RetryOnConflictOptions = {},
): Promise<T> {
  if (typeof work !== 'function')
    throw new TypeError(
      `retryOnConflict: the work is ${shownType(work)}: expected a function, called for each attempt`,
    );
  requireOptions('retryOnConflict', options, optionNames);
  const { backoff = defaultRetry, clock = systemClock, random, signal } = options;
  requireOptionsObject('retryOnConflict', backoff, 'a backoff such as defaultRetry');
  const { maxAttempts, ...delays } = backoff;
  const problem = numberProblem('backoff.maxAttempts', maxAttempts, { least: 1, integer: true, orInfinity: true });
  if (problem !== undefined) throw new RangeError(`retryOnConflict: ${problem}`);
  return await retry(work, {
    backoff: createBackoff({ ...delays, clock, ...(random === undefined ? {} : { random }) }),
    maxAttempts,
    isRetriable: isConflict,
    clock,
    ...(signal === undefined ? {} : { signal }),
  });
}
