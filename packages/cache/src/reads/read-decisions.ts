import type { GetOptions, ListOptions } from '@kctl/client';
import { decides, type AnsweredOptions } from '@kctl/options';

/** A get from the store as it is; versions and own writes are left to clients over it. */
const storeGet = decides<GetOptions>()({
  live: 'answered',
  signal: 'answered',
  resourceVersion: 'answered',
  readYourWrites: 'answered',
});

/** Options that a get from the store reads. */
export type StoreGet = AnsweredOptions<GetOptions, typeof storeGet>;

/** A list from the store. */
export const storeList = decides<ListOptions>()({
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
});

/** A get from the server within the scope of the cache, as a list of one name. */
export const liveGet = decides<GetOptions>()({
  resourceVersion: 'sent',
  live: 'sent',
  readYourWrites: 'sent',
  signal: 'sent',
});

/** A list from the server within the scope of the cache. Indexed fields and pages over scopes are handled here. */
export const liveList = decides<ListOptions>()({
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
});
