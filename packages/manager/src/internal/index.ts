/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { managerOptionNames } from '../check-options.js';
export { rejoinsAfter } from '../elector.js';
export { isForeignRequest, isLoopback } from '../loopback.js';
