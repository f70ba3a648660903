import { isThenable } from '@kctl/options';
import type { RequestCounter, RequestTally } from '@kctl/telemetry';

/**
 * Calls work once within a counter and returns its result. If a counter returns something else or does not call the
 * work, only the count is lost.
 *
 * @throws the error of the work
 */
export function counted<T>(counter: RequestCounter, tally: RequestTally, work: () => T): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  const once = (): T => {
    if (outcome === undefined)
      try {
        outcome = { value: work() };
      } catch (error) {
        outcome = { error };
      }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
  try {
    const returned: unknown = counter.run(tally, once);
    // Most often the promise of the work itself, which the caller awaits.
    if (isThenable(returned) && returned !== once()) Promise.resolve(returned).catch(() => undefined);
  } catch {
    // The error of the work is thrown below.
  }
  return once();
}
