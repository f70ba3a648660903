import { signalOption } from '@kctl/options';
import { abortReason } from './sleep.js';
import { nextTurn } from './slicer.js';

/**
 * The result of work that goes on for others, unless the signal is aborted first. Leaves no listener; a rejection of the
 * work that comes after the abort is dropped.
 *
 * @throws the signal's reason on abort; what the work rejects with; TypeError when `signal` is not one
 */
export function orAborted<T>(work: T | PromiseLike<T>, signal: AbortSignal | undefined): Promise<Awaited<T>> {
  const result = Promise.resolve(work);
  if (signal === undefined) return result;
  const misuse = signalOption('signal', signal);
  if (misuse !== undefined) {
    result.catch(() => undefined);
    return Promise.reject(new TypeError(misuse));
  }
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    const leave = (): void => signal.removeEventListener('abort', onAbort);
    result.then(leave, leave);
    result.then(resolve, reject);
  });
}

/**
 * Resolves when work settles or the signal is aborted, whichever is first; never rejects, except for a value that is
 * not a signal, and leaves no listener. If the signal is aborted already, work that settles within one turn of the
 * event loop is still waited for, because work that can end at once is not late.
 */
export async function untilAborted(work: PromiseLike<unknown>, signal: AbortSignal): Promise<void> {
  const misuse = signalOption('signal', signal);
  if (misuse !== undefined) throw new TypeError(`untilAborted: ${misuse}`);
  const settled = Promise.resolve(work).then(
    () => undefined,
    () => undefined,
  );
  if (signal.aborted) {
    await Promise.race([settled, nextTurn()]);
    return;
  }
  const stop = Promise.withResolvers<undefined>();
  const onAbort = (): void => stop.resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  await Promise.race([settled, stop.promise]);
  signal.removeEventListener('abort', onAbort);
}

/** Resolves when the signal is aborted. Its listener stays until then, for a `run` that ends with its signal. */
export function aborted(signal: AbortSignal): Promise<void> {
  const misuse = signalOption('signal', signal);
  if (misuse !== undefined) return Promise.reject(new TypeError(`aborted: ${misuse}`));
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
