/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { checkedRandom, guardedRandom } from '../checked-random.js';
export { nextTurn, Slicer, slicerOf } from '../slicer.js';
export { isConnectionFailure } from '../connection-failure.js';
export { DeadlineExceededError } from '../deadline-error.js';
export { retryAfterOfHeader } from '../retry-after.js';
export { abortReason } from '../sleep.js';
export { throwIfAborted } from '../throw-if-aborted.js';
export { startTimer } from '../start-timer.js';
export { wallTime } from '../wall-time.js';
