/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { BodyError } from '../errors.js';
export { listenerOption } from '../http-server.js';
export { defaultShutdownTimeoutMs } from '../http-server-options.js';
export { defaultLimits } from '../server-limits.js';
