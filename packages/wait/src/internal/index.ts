/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { nextTurn, Slicer, slicerOf } from '../slicer.js';
export { isConnectionFailure } from '../connection-failure.js';
export { DeadlineExceededError } from '../deadline-error.js';
export { retryAfterOfHeader } from '../retry-after.js';
export { abortReason } from '../sleep.js';
export { throwIfAborted } from '../throw-if-aborted.js';
