import { systemClock } from './system-clock.js';

/**
 * Keeps the process alive until it is disposed. A promise does not, because if a program only waits for a run that
 * sleeps or listens for an abort, Node ends the process with code 13. For every `run` that continues until its signal
 * aborts. Uses real time, whatever the clock, because nothing happens when it passes.
 */
export function keepAlive(): Disposable {
  const timer = systemClock.setTimer(() => undefined, Number.MAX_SAFE_INTEGER);
  return { [Symbol.dispose]: () => timer.cancel() };
}
