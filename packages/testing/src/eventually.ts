import { abortReason, sleep, systemClock, type Clock } from '@kctl/wait';

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /** How long to go on trying, in ms. @default 10000 */
  readonly timeoutMs?: number;
  /** Pause between tries, in ms. @default 20 */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

/**
 * Repeats an assertion until it does not throw, and returns what it returns. Fails with its last error, so that the
 * report says what was not so. Mirrors gomega's `Eventually`.
 *
 * @throws the last error of `assertion`, its message preceded by how long was waited
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { eventually } from '@kctl/testing';
 *
 * await eventually(async () => {
 *   const { status } = await client.get(Pod, { namespace: 'default', name: 'web-0' });
 *   if (status?.phase !== 'Running') throw new Error(`phase is ${status?.phase}`);
 * });
 * ```
 */
export async function eventually<T>(assertion: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const { timeoutMs = 10_000, intervalMs = 20, signal, clock = systemClock } = options;
  const startedAt = clock.monotonicNow();
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (signal?.aborted === true) throw abortReason(signal);
      const waited = clock.monotonicNow() - startedAt;
      if (waited >= timeoutMs) {
        if (error instanceof Error) error.message = `after ${Math.round(waited)} ms: ${error.message}`;
        throw error;
      }
    }
    await sleep(intervalMs, { clock, ...(signal === undefined ? {} : { signal }) });
  }
}
