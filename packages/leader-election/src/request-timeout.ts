import { abortReason, type Clock } from '@kctl/wait';

/** Runs `work` with a signal that is aborted by the caller's signal or after `timeoutMs`, whatever comes first. */
export async function withTimeout<T>(
  limits: { clock: Clock; timeoutMs: number; signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal } = limits;
  const controller = new AbortController();
  const forward = (): void => controller.abort(signal === undefined ? undefined : abortReason(signal));
  if (signal?.aborted === true) forward();
  signal?.addEventListener('abort', forward, { once: true });
  const timer = clock.setTimer(
    () => controller.abort(new DOMException(`timed out after ${Math.round(timeoutMs)} ms`, 'TimeoutError')),
    timeoutMs,
  );
  let reject: ((reason: Error) => void) | undefined;
  const aborted = new Promise<never>((_resolve, rejectAborted) => {
    reject = rejectAborted;
  });
  const onAbort = (): void => reject?.(abortReason(controller.signal));
  if (controller.signal.aborted) onAbort();
  else controller.signal.addEventListener('abort', onAbort, { once: true });
  try {
    // A lock that ignores its signal must not hold the election up.
    return await Promise.race([work(controller.signal), aborted]);
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', forward);
    controller.signal.removeEventListener('abort', onAbort);
    aborted.catch(() => undefined);
  }
}
