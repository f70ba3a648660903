import type { DeepReadonly, KeyOf, Kind, KubeObject } from '@kctl/apimachinery';
import type { GetOptions, ListOptions, Reader, ReadObject, ReadScope } from '@kctl/client';

/** Options of {@link CacheView.waitForResourceVersion}. */
export interface VersionWaitOptions {
  readonly namespace?: string;
  /** Gives up after this many ms. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * What a delegating client needs of a cache; that of @kctl/cache satisfies it. A store is chosen by group, version,
 * kind and shape: a metadata-only kind has a store of its own, and so has a stripped one. Lists are in the order of
 * namespace and name.
 */
export interface CacheView extends Pick<Reader, 'list'> {
  /** @throws StatusError — `isNotFound(error)` when there is none */
  get<K extends Kind>(kind: K, key: KeyOf<K>, options?: GetOptions): Promise<ReadObject<K>>;
  /**
   * What `get` would return, at once; undefined where `get` has to wait, to look further or to throw.
   *
   * @default `get` is called
   */
  readonly peek?: (<K extends Kind>(kind: K, key: KeyOf<K>) => ReadObject<K> | undefined) | undefined;
  /** Whether reads of this kind (in this namespace; unset: in all) are answered from the cache. */
  isCached(kind: Kind, namespace?: string): boolean;
  /**
   * The version of the collection that every store that answers for this kind (in this namespace; unset: in all) has
   * reached; '' where that is not known. What a later `get` or `list` returns is at least as new.
   */
  resourceVersionOf(kind: Kind, namespace?: string): string;
  /** Resolves when those stores are at this version or a newer one. @throws when the time is up */
  waitForResourceVersion(kind: Kind, resourceVersion: string, options: VersionWaitOptions): Promise<void>;
  /**
   * The object as the store would hold it: transformed, without what it strips. It may change what it is given.
   * Undefined where the cache's selectors leave the object out, so that it never gets into the store.
   *
   * @default without managedFields
   */
  project?(kind: Kind, object: KubeObject): DeepReadonly<KubeObject> | undefined;
  /**
   * Whether a store of this group, version and kind, of whatever shape, strips more than managedFields, so that writing
   * back what it holds would destroy data.
   *
   * @default false
   */
  isLossy?(kind: Kind): boolean;
  /**
   * What the stores of a kind look at: one entry for each list and watch; none where the kind is not held. The same array
   * until that changes.
   *
   * @default all namespaces, without selectors
   */
  scopesOf?(kind: Kind): readonly ReadScope[];
  /**
   * The kinds of the same group and kind that have stores, one for each version. An object has the same resourceVersion in
   * all versions, so a store of one is as old as its version says about a write through another.
   *
   * @default those that were read or written through the client
   */
  versionsOf?(kind: Kind): readonly Kind[];
  /** The fields that exist only as an index of the cache, and on no server. @default none */
  indexedFields?(kind: Kind): readonly string[];
  /**
   * Whether a list with these options contains an object, as {@link project} makes it, if a store holds it. Throws what
   * `list` throws.
   *
   * @default fields are read at their paths
   */
  matcherFor?(kind: Kind, options: ListOptions): (object: DeepReadonly<KubeObject>) => boolean;
}
