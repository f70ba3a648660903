import type { DeleteAllOfOptions, DeleteOptions, ListOptions, PatchOptions } from '@kctl/client';
import type { Decisions } from '@kctl/options';

/** Options that the cache gets for a list that it answers, with own writes on top. */
export const cachedList = {
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
} as const;
cachedList satisfies Decisions<ListOptions>;

/** Options that the matcher of the cache gets; they decide which objects belong in a list. */
export const matchedList = {
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
} as const;
matchedList satisfies Decisions<ListOptions>;

/** A list that the server answers within the scope of the cache. Its items are selected here. */
export const scopedList = {
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
} as const;
scopedList satisfies Decisions<ListOptions>;

/** A list that no store holds. Fields that only an index of the cache has are handled here. */
export const uncachedList = {
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
} as const;
uncachedList satisfies Decisions<ListOptions>;

/** Which objects a deleteAllOf may have deleted. */
export const deletedObjects = {
  namespace: 'sent',
  labelSelector: 'sent',
  fieldSelector: 'sent',
  dryRun: 'answered',
  gracePeriodSeconds: 'answered',
  preconditions: 'answered',
  propagationPolicy: 'answered',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'answered',
  signal: 'answered',
} as const;
deletedObjects satisfies Decisions<DeleteAllOfOptions>;

/** Options of a write that the record of own writes reads. A write that stores nothing is not recorded. */
export const recordedWrite = {
  dryRun: 'answered',
  signal: 'answered',
  fieldOwner: 'sent',
  fieldValidation: 'sent',
  force: 'sent',
} as const;
recordedWrite satisfies Decisions<PatchOptions>;

/** The same of a delete. */
export const recordedDelete = {
  dryRun: 'answered',
  signal: 'answered',
  gracePeriodSeconds: 'sent',
  preconditions: 'sent',
  propagationPolicy: 'sent',
  ignoreStoreReadErrorWithClusterBreakingPotential: 'sent',
} as const;
recordedDelete satisfies Decisions<DeleteOptions>;
