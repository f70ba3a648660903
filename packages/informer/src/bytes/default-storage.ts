import type { ObjectStorage } from './storage.js';

/**
 * How frozen objects are kept unless an option sets it. A separate module, which tests replace; with
 * `KCTL_STORAGE=compact` the suites of informers and caches run on compressed objects.
 */
export const defaultStorage: ObjectStorage = 'plain';
