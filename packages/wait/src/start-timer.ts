import { shownType } from '@kctl/options';
import type { Clock, ClockTimer } from './clock.js';

/**
 * Sets a timer of a clock that the caller supplied.
 *
 * @throws TypeError if the clock returns no timer, which could not be cancelled later
 */
export function startTimer(clock: Clock, ...of: Parameters<Clock['setTimer']>): ClockTimer {
  const timer: unknown = clock.setTimer(...of);
  if (isTimer(timer)) return timer;
  throw new TypeError(`clock.setTimer() returned ${shownType(timer)}: expected a timer with cancel()`);
}

function isTimer(value: unknown): value is ClockTimer {
  const isReference = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isReference && 'cancel' in value && typeof value.cancel === 'function';
}
