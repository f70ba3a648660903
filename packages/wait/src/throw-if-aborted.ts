import { signalOption } from '@kctl/options';
import { abortReason } from './sleep.js';

/**
 * Throws when a signal is aborted, between two steps of work that can be cancelled. Unlike `signal.throwIfAborted()` it
 * always throws an Error: a reason that is not one, such as a text, becomes the cause of an `AbortError`.
 *
 * @param signal where it is undefined, nothing is thrown
 * @throws the signal's reason, as {@link abortReason} says; TypeError when `signal` is not an AbortSignal
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const misuse = signalOption('signal', signal);
  if (misuse !== undefined) throw new TypeError(misuse);
  if (signal.aborted) throw abortReason(signal);
}
