/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { NotLeaderError } from '../errors.js';
export { leaseKind } from '../lease-lock.js';
