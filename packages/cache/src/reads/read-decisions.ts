import type { GetOptions, ListOptions } from '@kctl/client';
import type { AnsweredOptions, Decisions } from '@kctl/options';

/** A get from the store as it is; versions and own writes are left to clients over it. */
const storeGet = {
  live: 'answered',
  signal: 'answered',
  resourceVersion: 'answered',
  readYourWrites: 'answered',
} as const;
storeGet satisfies Decisions<GetOptions>;

/** Options that a get from the store reads. */
export type StoreGet = AnsweredOptions<GetOptions, typeof storeGet>;

/** A list from the store. */
export const storeList = {
  namespace: 'answered',
  labelSelector: 'answered',
  fieldSelector: 'answered',
  limit: 'answered',
  live: 'answered',
  signal: 'answered',
  resourceVersion: 'answered',
  resourceVersionMatch: 'answered',
  readYourWrites: 'answered',
  // Nothing is waited for that would need a limit.
  timeoutSeconds: 'answered',
  continue: { refused: 'list without it, or live' },
} as const;
storeList satisfies Decisions<ListOptions>;

/** A get from the server within the scope of the cache, as a list of one name. */
export const liveGet = {
  resourceVersion: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
} as const;
liveGet satisfies Decisions<GetOptions>;

/** A list from the server within the scope of the cache. Indexed fields and pages over scopes are handled here. */
export const liveList = {
  namespace: 'sent',
  labelSelector: 'sent',
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  timeoutSeconds: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
  fieldSelector: 'answered',
  limit: 'answered',
  continue: 'answered',
} as const;
liveList satisfies Decisions<ListOptions>;
