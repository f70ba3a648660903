import type { DeleteAllOfOptions, DeleteOptions, ListOptions, PatchOptions } from '@kctl/client';
import { decides } from '@kctl/options';

/** A list that the cache answers, with own writes on top: what the cache gets. */
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

/** Which objects belong into a list: what the matcher of the cache gets. */
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

/** A list that the server answers within the scope of the cache: its items are selected here. */
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

/** A list that no store holds: fields that only an index of the cache has are answered here. */
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

/** What the record of own writes reads of the options of a write: one that stores nothing is not recorded. */
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
