import type { StatusError } from '@kctl/apimachinery';
import { isStatusError, isTooManyRequests } from '@kctl/apimachinery';
import type { OptionNames } from '@kctl/options';
import { numberProblem, requireOptions, functionOption } from '@kctl/options';
import { retryAfterMs as retryAfterOf } from '@kctl/wait';
import type { RetryDecision } from '../reconciler/reconciler.js';
import { isTerminalError, someInChain } from '../reconciler/errors.js';

/** Input of a {@link RetryPolicy}. */
export interface RetryInput {
  readonly error: unknown;
  /** The attempt that failed: 1 for the first. */
  readonly attempt: number;
  /** ms since the first failure of this row. */
  readonly elapsedMs: number;
}

/** Decides what follows a failure. */
export interface RetryPolicy {
  /** Pure. */
  decide(input: RetryInput): RetryDecision;
  /** The attempt after whose failure it gives up, if known beforehand, for `context.isLastAttempt`. */
  readonly maxAttempts?: number;
}

/** Options of {@link createRetryPolicy}. */
export interface RetryPolicyOptions {
  /** Gives up after this many attempts, an integer ≥ 1. @default never */
  readonly maxAttempts?: number;
  /** Gives up this many ms after the first failure. @default never */
  readonly maxElapsedMs?: number;
  /** Delay before attempt `attempt + 1`. @default the controller's rate limiter decides */
  readonly delayMs?: (attempt: number) => number;
  /**
   * Looks at the error first; undefined leaves the decision to the rest.
   *
   * @default nothing special
   */
  readonly classify?: (error: unknown, attempt: number) => RetryDecision | undefined;
}

const optionNames: OptionNames<RetryPolicyOptions> = {
  maxAttempts: true,
  maxElapsedMs: true,
  delayMs: functionOption,
  classify: functionOption,
};

/**
 * A retry policy from its usual parts. They apply in the order terminal error (stops), `classify`, attempt and time
 * limits, `Retry-After` of a 429 or 503 (waits at least that long, or five minutes if it requests more), then `delayMs`
 * or the controller's rate limiter.
 *
 * @throws TypeError when `maxAttempts` is not an integer ≥ 1, or `maxElapsedMs` not a number ≥ 0
 */
export function createRetryPolicy(options: RetryPolicyOptions = {}): RetryPolicy {
  requireOptions('createRetryPolicy', options, optionNames);
  const { maxAttempts = Infinity, maxElapsedMs = Infinity, delayMs, classify } = options;
  const problem =
    numberProblem('maxAttempts', maxAttempts, { least: 1, integer: true, orInfinity: true }) ??
    numberProblem('maxElapsedMs', maxElapsedMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`createRetryPolicy: ${problem}`);
  const decide = ({ error, attempt, elapsedMs }: RetryInput): RetryDecision => {
    if (isTerminalError(error)) return { type: 'stop' };
    const special = classify?.(error, attempt);
    if (special !== undefined) return special;
    if (attempt >= maxAttempts || elapsedMs >= maxElapsedMs) return { type: 'stop' };
    const asked = believedRetryAfterMs(error);
    const planned = delayMs?.(attempt);
    if (asked !== undefined) return { type: 'retry', afterMs: Math.max(asked, planned ?? 0) };
    return planned === undefined ? { type: 'backoff' } : { type: 'retry', afterMs: planned };
  };
  return { decide, maxAttempts };
}

/** The pause requested by the server in `Retry-After` of a 429 or a 503, in ms; also if an error wraps it. */
export function retryAfterMs(error: unknown): number | undefined {
  let throttled: unknown;
  someInChain(error, (link) => {
    if (!isThrottled(link)) return false;
    throttled = link;
    return true;
  });
  return retryAfterOf(throttled);
}

/** Longest pause accepted from a server or a proxy, in ms. */
const longestBelievedMs = 300_000;

/** {@link retryAfterMs}, at most five minutes, because one absurd value would defer a key, or a poll, forever. */
export function believedRetryAfterMs(error: unknown): number | undefined {
  const asked = retryAfterMs(error);
  return asked === undefined ? undefined : Math.min(asked, longestBelievedMs);
}

function isThrottled(error: unknown): error is StatusError {
  return isTooManyRequests(error) || (isStatusError(error) && error.httpCode === 503);
}
