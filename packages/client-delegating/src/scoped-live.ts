import { fieldSelectorFrom } from '@kctl/apimachinery';
import { asObject } from './writes/as-object.js';
import type { KeyOf, Kind, KubeList } from '@kctl/apimachinery';
import { listWithin } from '@kctl/client/internal';
import type { GetOptions, ListOptions, Reader, ReadObject } from '@kctl/client';
import { sentOptions } from '@kctl/options';
import type { CacheView } from './overlay/cache-view.js';
import { notFound } from './errors.js';
import { limited } from './limited.js';
import { listMatcher } from './overlay/list-matcher.js';
import { scopedList, uncachedList } from './overlay/list-decisions.js';
import { mergeInOrder } from './overlay/merge-in-order.js';
import { projected } from './overlay/projected.js';

/**
 * Reads from the server, limited to the contents of the cache (its namespaces, selectors, indexes and projection). Used
 * for servers whose versions cannot be compared; otherwise, answers are recorded instead.
 */
export class ScopedLive {
  readonly #cache: CacheView;
  readonly #live: Reader;

  constructor(cache: CacheView, live: Reader) {
    this.#cache = cache;
    this.#live = live;
  }

  async get<K extends Kind>(kind: K, key: KeyOf<K>, options: GetOptions): Promise<ReadObject<K>> {
    const object = await this.#live.get(kind, key, options);
    const held = projected(this.#cache, kind, asObject(object));
    if (held === undefined) throw notFound(kind, key.name);
    return held as ReadObject<K>;
  }

  async list<K extends Kind>(kind: K, options: ListOptions): Promise<KubeList<ReadObject<K>>> {
    const { limit = 0 } = options;
    const matches = listMatcher(this.#cache, kind, options);
    const answers = await listWithin(this.#live, kind, {
      ...sentOptions(scopedList, options),
      scopes: this.#cache.scopesOf?.(kind) ?? [{}],
    });
    const held = answers
      .flatMap(({ list }) => list.items)
      .map((item) => projected(this.#cache, kind, asObject(item)))
      .filter((item) => item !== undefined && matches(item));
    const items = mergeInOrder([], held as ReadObject<K>[], (item) => asObject(item).metadata);
    const versions = answers.map(({ list }) => list.metadata.resourceVersion ?? '');
    const metadata = versions.length === 1 ? { resourceVersion: versions[0] ?? '' } : {};
    return limited({ apiVersion: kind.apiVersion, kind: `${kind.kind}List`, metadata, items }, limit);
  }
}

/**
 * Lists a kind that no store holds, live and with the requested options. Fields that exist only as an index of the
 * cache are evaluated here and not sent, because a server refuses them.
 */
export async function listUncached<K extends Kind>(
  cache: CacheView,
  live: Reader,
  kind: K,
  options: ListOptions,
): Promise<KubeList<ReadObject<K>>> {
  const { fieldSelector } = options;
  const indexed = new Set(fieldSelector === undefined ? [] : cache.indexedFields?.(kind));
  const terms = fieldSelector === undefined ? [] : fieldSelectorFrom(fieldSelector).terms;
  if (!terms.some(({ path }) => indexed.has(path))) return await live.list(kind, options);
  const sent = fieldSelectorFrom(terms.filter(({ path }) => !indexed.has(path))).toString();
  const judged = fieldSelectorFrom(terms.filter(({ path }) => indexed.has(path))).toString();
  const matches = listMatcher(cache, kind, { fieldSelector: judged });
  const list = await live.list(kind, {
    ...sentOptions(uncachedList, options),
    ...(sent === '' ? {} : { fieldSelector: sent }),
  });
  const { remainingItemCount: _count, ...metadata } = list.metadata;
  return { ...list, metadata, items: list.items.filter((item) => matches(asObject(item))) };
}
