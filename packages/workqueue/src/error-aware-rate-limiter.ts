import { requireNumber } from './errors.js';
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
  /** Decides where no rule matches. */
  readonly otherwise: RateLimiter<T>;
  /** The first that matches decides. @default none */
  readonly rules?: readonly ErrorRule<T>[];
  /** A server that asks for more is not believed, in ms. @default 3600000 */
  readonly maxRetryAfterMs?: number;
}

/** How deep a chain of causes is looked at. */
const maxCauses = 8;

/**
 * A limiter that sees the failure: its class chooses the limiter, and a server's `Retry-After` (see
 * {@link retryAfterMs}) is a lower bound of the delay. client-go has none (controller-runtime #2040).
 */
export function errorAwareRateLimiter<T = string>(options: ErrorAwareRateLimiterOptions<T>): RateLimiter<T> {
  const { otherwise, rules = [], maxRetryAfterMs = 3_600_000 } = options;
  requireNumber('maxRetryAfterMs', maxRetryAfterMs, 0);
  const limiters = [...new Set([...rules.map((rule) => rule.limiter), otherwise])];
  return {
    when(item, cause) {
      const error = cause?.error;
      const rule = error === undefined ? undefined : rules.find(({ matches }) => matches(error));
      const delay = (rule?.limiter ?? otherwise).when(item, cause);
      return Math.max(delay, Math.min(retryAfterMs(error) ?? 0, maxRetryAfterMs));
    },
    forget(item) {
      for (const limiter of limiters) limiter.forget(item);
    },
    numRequeues: (item) => limiters.reduce((sum, limiter) => sum + limiter.numRequeues(item), 0),
    adoptKey(key) {
      for (const limiter of limiters) limiter.adoptKey?.(key);
    },
  };
}

/**
 * The delay that a server asked for, in ms: `retryAfterMs` or `retryAfterSeconds` of the error, or
 * `status.details.retryAfterSeconds` of a Kubernetes status error, of the error itself or of its causes. Undefined
 * where none is given.
 */
export function retryAfterMs(error: unknown): number | undefined {
  let link: unknown = error;
  for (let depth = 0; depth < maxCauses && isObject(link); depth++) {
    const own = positive(link['retryAfterMs']) ?? seconds(link) ?? seconds(detailsOf(link));
    if (own !== undefined) return own;
    link = link['cause'];
  }
  return undefined;
}

function detailsOf(error: Record<string, unknown>): Record<string, unknown> | undefined {
  const status = error['status'];
  const details = isObject(status) ? status['details'] : undefined;
  return isObject(details) ? details : undefined;
}

function seconds(holder: Record<string, unknown> | undefined): number | undefined {
  const value = positive(holder?.['retryAfterSeconds']);
  return value === undefined ? undefined : value * 1000;
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
