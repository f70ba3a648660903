/**
 * Time and waiting: an injectable clock, and every wait abort-aware.
 *
 * @packageDocumentation
 */
export type { Clock, ClockTimer, Random, SetTimerOptions } from './clock.js';
export { abortReason, isAbortError, sleep } from './sleep.js';
export type { SleepOptions } from './sleep.js';
export { systemClock, systemRandom } from './system-clock.js';
