/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { TransportError } from '../errors.js';
export { defaultUserAgent } from '../transport/user-agent.js';
