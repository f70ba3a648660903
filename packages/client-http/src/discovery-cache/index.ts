/**
 * Discovery documents on disk, between runs of a program. A separate module, so that a program without it reads and
 * writes no files.
 *
 * @packageDocumentation
 */
export type { DiscoveryCache, DiscoveryDocument } from '../discovery/discovery-cache.js';
export { createDiscoveryFileCache } from './file-cache.js';
export type { DiscoveryFileCacheOptions } from './file-cache.js';
