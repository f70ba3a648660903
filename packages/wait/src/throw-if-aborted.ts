import { signalOption } from '@kctl/options';
import { abortReason } from './sleep.js';

/**
 * Throws when a signal is aborted, between two steps of work that can be cancelled. Unlike `signal.throwIfAborted()` it
 * always throws an Error; a reason of another type, such as a string, becomes the cause of an `AbortError`.
 *
 * @param signal if it is undefined, nothing is thrown
 * @throws the signal's reason, as returned by {@link abortReason}; TypeError when `signal` is not an AbortSignal
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const misuse = signalOption('signal', signal);
  if (misuse !== undefined) throw new TypeError(misuse);
  if (signal.aborted) throw abortReason(signal);
}
