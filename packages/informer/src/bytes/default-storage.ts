import type { ObjectStorage } from './storage.js';

/**
 * How frozen objects are kept where no option says it. A module of its own, which tests replace: with
 * `KCTL_STORAGE=compact` the suites of informers and caches run on compressed objects.
 */
export const defaultStorage: ObjectStorage = 'plain';
