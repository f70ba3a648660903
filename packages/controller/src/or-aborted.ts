import { abortReason } from '@kctl/wait';

/** The promise, or the signal's reason as soon as it is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
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
