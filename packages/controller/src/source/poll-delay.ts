import { shownValue } from '@kctl/options';
import { believedRetryAfterMs } from '../retry/retry-policy.js';

const maxBackoffMs = 300_000;

/** Outcome of the last poll. */
export interface PollOutcome {
  readonly everyMs: number;
  /** Failures in a row. */
  readonly failures: number;
  /** The last of them. */
  readonly error: unknown;
}

/**
 * ms until the next poll, spread by ±10 %, longer after failures, never sooner than a `Retry-After` requires, up to
 * five minutes.
 */
export function pollDelay({ everyMs, failures, error }: PollOutcome, random: () => number): number {
  const delay = failures === 0 ? everyMs : Math.min(everyMs * 2 ** failures, Math.max(everyMs, maxBackoffMs));
  return Math.max(delay * (0.9 + 0.2 * random()), believedRetryAfterMs(error) ?? 0);
}

/** @throws TypeError when the interval is not valid */
export function requireInterval(source: string, everyMs: number): void {
  if (!Number.isFinite(everyMs) || everyMs <= 0)
    throw new TypeError(`${source}: everyMs ${shownValue(everyMs)} is not valid: expected a number > 0`);
}
