import { anySignal, orAborted } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';

/** Runs `work` with a signal that is aborted by the caller's signal or after `timeoutMs`, whatever comes first. */
export async function withTimeout<T>(
  limits: { clock: Clock; timeoutMs: number; signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal } = limits;
  using link = anySignal([signal]);
  const timer = startTimer(
    clock,
    () => link.abort(new DOMException(`timed out after ${Math.round(timeoutMs)} ms`, 'TimeoutError')),
    timeoutMs,
  );
  try {
    // A lock that ignores its signal must not hold the election up.
    return await orAborted(work(link.signal), link.signal);
  } finally {
    timer.cancel();
  }
}
