import { numberProblem, clockOption, signalOption, shownType } from '@kctl/options';
import type { Clock } from './clock.js';
import { DeadlineExceededError } from './deadline-error.js';
import { startTimer } from './start-timer.js';

/** An abort signal that is tied to something else; disposing it unties it and leaves nothing behind. */
export interface AbortLink extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts {@link signal}, and nothing else. Does nothing when it is aborted already. */
  abort(reason?: unknown): void;
}

/**
 * A signal that aborts as soon as one of `signals` does, with its reason. Unlike `AbortSignal.any`, disposing it
 * removes its listeners from long-lived sources at once; it also does so when it aborts.
 *
 * @throws TypeError for what is not an AbortSignal
 *
 * @example
 * ```ts
 * import { anySignal } from '@kctl/wait';
 *
 * const stop = new AbortController();
 * using either = anySignal([signal, stop.signal]);
 * await fetch('https://ci.example.com', { signal: either.signal });
 * ```
 */
export function anySignal(signals: Iterable<AbortSignal | undefined>): AbortLink {
  const given: unknown = signals;
  if (typeof given !== 'object' || given === null || !(Symbol.iterator in given))
    throw new TypeError(`anySignal: the signals are ${shownType(given)}: expected a list of AbortSignals`);
  const controller = new AbortController();
  const undo: (() => void)[] = [];
  const dispose = (): void => {
    for (const remove of undo.splice(0)) remove();
  };
  const abort = (reason?: unknown): void => {
    dispose();
    controller.abort(reason);
  };
  for (const source of signals) {
    if (source === undefined) continue;
    const problem = signalOption('signal', source);
    if (problem !== undefined) {
      dispose();
      throw new TypeError(problem);
    }
    if (source.aborted) {
      abort(source.reason);
      break;
    }
    const onAbort = (): void => abort(source.reason);
    source.addEventListener('abort', onAbort, { once: true });
    undo.push(() => source.removeEventListener('abort', onAbort));
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: dispose };
}

/**
 * A signal that aborts after `ms` ms of monotonic time with a {@link DeadlineExceededError}. Disposing it, or aborting
 * it earlier, stops the timer. The timer does not keep the process alive.
 *
 * @throws TypeError for what is not a clock, or not a number
 */
export function timeoutSignal(clock: Clock, ms: number): AbortLink {
  const problem = clockOption('clock', clock) ?? (ms < 0 ? undefined : numberProblem('ms', ms, { orInfinity: true }));
  if (problem !== undefined) throw new TypeError(`timeoutSignal: ${problem}`);
  const controller = new AbortController();
  const timer = startTimer(clock, () => controller.abort(new DeadlineExceededError(ms)), ms, { keepAlive: false });
  return {
    signal: controller.signal,
    abort: (reason) => {
      timer.cancel();
      controller.abort(reason);
    },
    [Symbol.dispose]: () => timer.cancel(),
  };
}
