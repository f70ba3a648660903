/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { Workers } from '../workers.js';
export type { WorkersOptions } from '../workers.js';
