import type { DeleteAllOfOptions, DeleteOptions, ListOptions, PatchOptions } from '@kctl/client';
import { decides } from '@kctl/options';

/** Options that the cache gets for a list that it answers, with own writes on top. */
export const cachedList = decides<ListOptions>()({
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  timeoutSeconds: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
  // After own writes are merged, or else there would be too few.
  limit: 'answered',
  continue: { refused: 'a cached list is not paged' },
});

/** Options that the matcher of the cache gets; they decide which objects belong in a list. */
export const matchedList = decides<ListOptions>()({
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  resourceVersion: 'answered',
  resourceVersionMatch: 'answered',
  timeoutSeconds: 'answered',
  live: 'answered',
  readYourWrites: 'answered',
  signal: 'answered',
  limit: 'answered',
  continue: 'answered',
});

/** A list that the server answers within the scope of the cache. Its items are selected here. */
export const scopedList = decides<ListOptions>()({
  namespace: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  timeoutSeconds: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
  labelSelector: 'answered',
  fieldSelector: 'answered',
  limit: 'answered',
  continue: 'answered',
});

/** A list that no store holds. Fields that only an index of the cache has are handled here. */
export const uncachedList = decides<ListOptions>()({
  namespace: 'sent',
  labelSelector: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  timeoutSeconds: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
  limit: 'sent',
  continue: 'sent',
  fieldSelector: 'answered',
});

/** Which objects a deleteAllOf may have deleted. */
export const deletedObjects = decides<DeleteAllOfOptions>()({
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  dryRun: 'answered',
  gracePeriodSeconds: 'answered',
  preconditions: 'answered',
  propagationPolicy: 'answered',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'answered',
  signal: 'answered',
});

/** Options of a write that the record of own writes reads. A write that stores nothing is not recorded. */
export const recordedWrite = decides<PatchOptions>()({
  dryRun: 'answered',
  signal: 'answered',
  fieldOwner: 'sent',
  fieldValidation: 'sent',
  force: 'sent',
});

/** The same of a delete. */
export const recordedDelete = decides<DeleteOptions>()({
  dryRun: 'answered',
  signal: 'answered',
  gracePeriodSeconds: 'sent',
  preconditions: 'sent',
  propagationPolicy: 'sent',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'sent',
});
