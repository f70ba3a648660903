import { systemClock } from './system-clock.js';

/**
 * Keeps the process alive until it is disposed. A promise does not: where all that a program waits for is a run that
 * sleeps or listens for an abort, Node ends the process with code 13. For the `run` of whatever is to go on until its
 * signal aborts. Real time, whatever the clock: nothing happens when it passes.
 */
export function keepAlive(): Disposable {
  const timer = systemClock.setTimer(() => undefined, Number.MAX_SAFE_INTEGER);
  return { [Symbol.dispose]: () => timer.cancel() };
}
