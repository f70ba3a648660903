import type { Kind } from '@kctl/apimachinery';
import type { SelectedKinds, SelectOptions } from '@kctl/builder';
import { createCacheSelection, type Cache } from '@kctl/cache';
import { intercept, type Client, type KindResolver } from '@kctl/client';
import type { CacheView, DelegatingClient } from '@kctl/client-delegating';

/** Parts of a manager from which selected kinds are made. */
export interface SelectParts {
  readonly cache: Cache;
  readonly client: DelegatingClient;
  readonly mapper: KindResolver;
  /** Makes a client that reads from a view of the cache, and writes as that of the manager does. */
  readonly clientOf: (cache: CacheView) => DelegatingClient;
}

/**
 * Adds informers of some kinds that hold the objects with a label alone. The client reads and writes these kinds through
 * them, unless the cache holds a kind whole by now, and all others as that of the manager does.
 */
export function selectKinds({ cache, client, mapper, clientOf }: SelectParts, options: SelectOptions): SelectedKinds {
  const informers = createCacheSelection(cache, options);
  const selected = clientOf(informers);
  const clientFor = (kind: Kind): Client => (informers.isSelected(kind) && !cache.isCached(kind) ? selected : client);
  const routed = intercept(client, () => ({
    get: (kind, key, of) => clientFor(kind).get(kind, key, of),
    list: (kind, of) => clientFor(kind).list(kind, of),
    create: (kind, object, of) => clientFor(kind).create(kind, object, of),
    update: (kind, object, of) => clientFor(kind).update(kind, object, of),
    patch: (kind, key, patch, of) => clientFor(kind).patch(kind, key, patch, of),
    delete: (kind, key, of) => clientFor(kind).delete(kind, key, of),
    deleteAllOf: (kind, of) => clientFor(kind).deleteAllOf(kind, of),
    subResource: (kind, name) => clientFor(kind).subResource(kind, name),
  }));
  const vanished: DelegatingClient['vanished'] = (kind) => selected.vanished(kind);
  const kindFor: KindResolver['kindFor'] = async (named) => await mapper.kindFor(named);
  return { informers, client: Object.assign(routed, { vanished, kindFor }) };
}
