import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { retryAfterMs } from '@kctl/wait';
import { QueueArgumentError, requireFunction, requireNumber } from '../errors.js';
import { numberFrom, requireRateLimiter } from './rate-limiter.js';
import type { RateLimiter } from './rate-limiter.js';

/** A class of failures with its own limiter. */
export interface ErrorRule<T> {
  /** Whether a failure belongs to this class, e.g. `isConflict`. */
  readonly matches: (error: unknown) => boolean;
  /** Decides and counts for this class alone, so that a class can be quick, or have its own ceiling. */
  readonly limiter: RateLimiter<T>;
}

/** Options of {@link errorAwareRateLimiter}. */
export interface ErrorAwareRateLimiterOptions<T> {
  /** Decides if no rule matches. */
  readonly otherwise: RateLimiter<T>;
  /** The first that matches decides. @default none */
  readonly rules?: readonly ErrorRule<T>[];
  /** Longest delay accepted from a server, in ms. @default 3600000 */
  readonly maxRetryAfterMs?: number;
}

const optionNames: OptionNames<ErrorAwareRateLimiterOptions<never>> = {
  otherwise: true,
  rules: true,
  maxRetryAfterMs: true,
};

/**
 * A limiter that receives the failure. Its class chooses the limiter, and a server's `Retry-After` (see
 * {@link retryAfterMs}) is a lower bound of the delay. client-go has no equivalent (controller-runtime #2040).
 */
export function errorAwareRateLimiter<T = string>(options: ErrorAwareRateLimiterOptions<T>): RateLimiter<T> {
  requireOptions('errorAwareRateLimiter', options, optionNames);
  const { otherwise, rules = [], maxRetryAfterMs = 3_600_000 } = options;
  requireNumber('maxRetryAfterMs', maxRetryAfterMs, 0);
  requireRateLimiter(otherwise, 'otherwise');
  const listed: unknown = rules;
  if (!Array.isArray(listed)) throw new QueueArgumentError('rules', rules, 'give a list of { matches, limiter }');
  for (const [index, rule] of rules.entries()) {
    const given: unknown = rule;
    if (typeof given !== 'object' || given === null)
      throw new QueueArgumentError(`rules[${index}]`, given, 'give { matches, limiter }');
    requireFunction(`rules[${index}].matches`, rule.matches);
    requireRateLimiter(rule.limiter, `rules[${index}].limiter`);
  }
  const limiters = [...new Set([...rules.map((rule) => rule.limiter), otherwise])];
  return {
    when(item, cause) {
      const error = cause?.error;
      const rule = error === undefined ? undefined : rules.find(({ matches }) => matches(error));
      const delay = numberFrom('when', (rule?.limiter ?? otherwise).when(item, cause));
      return Math.max(delay, Math.min(retryAfterMs(error) ?? 0, maxRetryAfterMs));
    },
    forget(item) {
      for (const limiter of limiters) limiter.forget(item);
    },
    numRequeues: (item) =>
      limiters.reduce((sum, limiter) => sum + numberFrom('numRequeues', limiter.numRequeues(item)), 0),
    adoptKey(key) {
      for (const limiter of limiters) limiter.adoptKey?.(key);
    },
  };
}
