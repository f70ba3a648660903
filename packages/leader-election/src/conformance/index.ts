/**
 * The shared suite that every {@link ResourceLock} passes.
 *
 * @packageDocumentation
 */
export { resourceLockConformance } from './resource-lock.js';
export type { ResourceLockFixture } from './resource-lock.js';
