/**
 * A clock for tests.
 *
 * @packageDocumentation
 */
export { FakeClock, settle } from './fake-clock.js';
export type { FakeClockOptions } from './fake-clock.js';
