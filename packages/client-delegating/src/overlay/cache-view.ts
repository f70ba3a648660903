import type { DeepReadonly, KeyOf, Kind, KubeObject } from '@kctl/apimachinery';
import type { GetOptions, ListOptions, Reader, ReadObject } from '@kctl/client';
import type { ReadScope } from '@kctl/client/internal';

/** Options of {@link CacheView.waitForResourceVersion}. */
export interface VersionWaitOptions {
  readonly namespace?: string;
  /** Gives up after this many ms. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Cache interface of a delegating client, which the cache of @kctl/cache satisfies. A store is chosen by group,
 * version, kind and shape; a metadata-only kind has a separate store, and so has a stripped one. Lists are in the order
 * of namespace and name.
 */
export interface CacheView extends Pick<Reader, 'list'> {
  /** @throws StatusError (`isNotFound(error)`) when the object does not exist */
  get<K extends Kind>(kind: K, key: KeyOf<K>, options?: GetOptions): Promise<ReadObject<K>>;
  /**
   * Returns the result of `get` at once; undefined if `get` has to wait, to look further or to throw.
   *
   * @default `get` is called
   */
  readonly peek?: (<K extends Kind>(kind: K, key: KeyOf<K>) => ReadObject<K> | undefined) | undefined;
  /** Reports whether reads of this kind (in this namespace, or in all if unset) are answered from the cache. */
  isCached(kind: Kind, namespace?: string): boolean;
  /**
   * The version of the collection that every store that answers for this kind (in this namespace, or in all if unset)
   * has reached; '' if it is not known. The result of a later `get` or `list` is at least as new.
   */
  resourceVersionOf(kind: Kind, namespace?: string): string;
  /** Resolves when those stores are at this version or a newer one. @throws when the time is up */
  waitForResourceVersion(kind: Kind, resourceVersion: string, options: VersionWaitOptions): Promise<void>;
  /**
   * Returns the object as the store would hold it, transformed and stripped. It may change its argument. Undefined if
   * the cache's selectors exclude the object, so that it never gets into the store.
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
   * The scopes of the stores of a kind, with one entry for each list and watch; empty if the kind is not held. Returns
   * the same array until the scopes change.
   *
   * @default all namespaces, without selectors
   */
  scopesOf?(kind: Kind): readonly ReadScope[];
  /**
   * The kinds of the same group and kind that have stores, one for each version. An object has the same resourceVersion
   * in all versions, so a store of one is as old as its version indicates about a write through another.
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
