import { clockOption, numberOption, requireOptions, signalOption, type OptionNames } from '@kctl/options';
import { sleep, systemClock, type Clock } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';

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

/** The checks of these options, for what hands them on. */
export const eventuallyOptionNames: OptionNames<EventuallyOptions> = {
  timeoutMs: numberOption({ orInfinity: true }),
  intervalMs: numberOption(),
  signal: signalOption,
  clock: clockOption,
};

/**
 * Repeats an assertion until it does not throw, and returns its result. Fails with its last error, so that the report
 * shows the failed assertion. Mirrors gomega's `Eventually`.
 *
 * @throws the last error of `assertion`, its message preceded by how long was waited; the reason of the signal; TypeError
 * when an option is not valid
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
  requireOptions('eventually', options, eventuallyOptionNames);
  const { timeoutMs = 10_000, intervalMs = 20, signal, clock = systemClock } = options;
  const startedAt = clock.monotonicNow();
  for (;;) {
    throwIfAborted(signal);
    try {
      return await assertion();
    } catch (error) {
      throwIfAborted(signal);
      const waited = clock.monotonicNow() - startedAt;
      if (waited >= timeoutMs) throw error instanceof Error ? afterWaiting(error, waited) : error;
    }
    await sleep(intervalMs, { clock, ...(signal === undefined ? {} : { signal }) });
  }
}

/** The error, and how long was waited. A DOMException has its message in its prototype, and one that is frozen keeps it. */
function afterWaiting(error: Error, waitedMs: number): Error {
  const message = `after ${Math.round(waitedMs)} ms: ${error.message}`;
  const property = { value: message, writable: true, configurable: true, enumerable: false };
  return Reflect.defineProperty(error, 'message', property) ? error : new Error(message, { cause: error });
}
