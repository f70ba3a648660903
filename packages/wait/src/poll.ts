import type { Backoff } from './backoff.js';
import type { Clock } from './clock.js';
import { withDeadline } from './deadline.js';
import { numberProblem } from './number-problem.js';
import { sleep } from './sleep.js';
import { systemClock } from './system-clock.js';

/** Options of {@link poll} and {@link waitUntil}. */
export interface PollOptions {
  /** ms from the end of one attempt to the beginning of the next, or a backoff that says it. */
  readonly interval: number | Backoff;
  /** How long to go on, in ms. @default for ever */
  readonly timeoutMs?: number;
  /** What the error at the timeout says. */
  readonly message?: string;
  /** Whether the first attempt comes at once or after the first interval. @default true */
  readonly immediate?: boolean;
  /** Aborting it ends the waiting at once and rejects with its reason. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

/**
 * Tries until there is a result: resolves with the first value that `attempt` returns other than undefined. One attempt
 * at a time; what it throws ends the polling. The attempt receives a signal that aborts at the timeout. Mirrors
 * `wait.PollUntilContextTimeout`.
 *
 * @throws DeadlineExceededError after `timeoutMs`; the signal's reason on abort; what `attempt` throws; RangeError when
 *   `interval` or `timeoutMs` is not valid
 */
export async function poll<T>(
  attempt: (signal: AbortSignal) => T | undefined | Promise<T | undefined>,
  options: PollOptions,
): Promise<T> {
  const { interval, timeoutMs = Infinity, immediate = true, clock = systemClock } = options;
  const problem = typeof interval === 'object' ? undefined : numberProblem('interval', interval);
  if (problem !== undefined) throw new RangeError(`poll: ${problem}`);
  const delay = (): number => (typeof interval === 'number' ? interval : interval.next());
  return await withDeadline(
    async (signal) => {
      if (!immediate) await sleep(delay(), { signal, clock });
      for (;;) {
        const result = await attempt(signal);
        if (result !== undefined) return result;
        await sleep(delay(), { signal, clock });
      }
    },
    { ...options, timeoutMs, clock },
  );
}

/**
 * Tries until a condition holds.
 *
 * @throws as {@link poll} does
 */
export async function waitUntil(
  condition: (signal: AbortSignal) => boolean | Promise<boolean>,
  options: PollOptions,
): Promise<void> {
  await poll(async (signal) => ((await condition(signal)) ? true : undefined), options);
}
