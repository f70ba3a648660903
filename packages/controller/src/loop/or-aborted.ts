import { orAborted } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';

/**
 * The promise, or the signal's reason when it is still pending one turn of the event loop after the abort, because code
 * that watches the same signal itself may have a better reason.
 */
export async function orAbortedLater<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await orAborted(promise, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const later = new Promise<never>((_resolve, reject) => setImmediate(() => reject(abortReason(signal))));
    return await Promise.race([promise, later]);
  }
}

/** True when the promise resolves, false when the signal is aborted first; rejects when the promise does. */
export async function resolvesFirst(promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await orAborted(promise, signal);
    return !signal.aborted;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
