import { shownArgument } from '@kctl/options';
import type { Clock } from './clock.js';

/** The last instant that a Date can be, in ms. */
const lastInstantMs = 8.64e15;

/**
 * Returns the wall-clock time of a clock that the caller supplied, for what writes it as a date.
 *
 * @throws TypeError if the clock returns what a date cannot be
 */
export function wallTime(clock: Pick<Clock, 'now'>): number {
  const time: unknown = clock.now();
  if (typeof time === 'number' && Math.abs(time) <= lastInstantMs) return time;
  throw new TypeError(`clock.now() returned ${shownArgument(time)}: expected ms since the Unix epoch`);
}
