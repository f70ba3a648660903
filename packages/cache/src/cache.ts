import type { DeepReadonly, KeyOf, Kind, KubeObject, ObjectOf, PersistedObject } from '@kctl/apimachinery';
import type { IndexDefinition } from '@kctl/cache-index';
import type { ListOptions, Reader, ReadObject } from '@kctl/client';
import type { ReadScope } from '@kctl/client/internal';
import type { InformerState, InformerTrouble, InformerWaitOptions, SharedInformer } from '@kctl/informer';
import type { NamespaceScopes, SelectedInformerOptions } from './cache-options.js';

/** An informer on loan. It runs at least until the loan is returned. */
export interface InformerLease<K extends Kind> extends AsyncDisposable {
  readonly informer: SharedInformer<PersistedObject<K>>;
}

/** How an informer of a cache is doing. */
export interface InformerStatus {
  /** Reads of the cache with this token are answered by this informer, also if it is a selected one. */
  readonly kind: Kind;
  /** The name of a selected informer. */
  readonly selection?: string;
  readonly state: InformerState;
  readonly trouble: InformerTrouble | undefined;
  readonly hasSynced: boolean;
  readonly resourceVersion: string;
  /** How many objects its store holds. */
  readonly objects: number;
  /** How many bytes its store holds of objects that came as bytes; 0 for others. */
  readonly bytes: number;
  /** The names of its indexes. */
  readonly indexes: readonly string[];
  /** Whether it was declared or is on loan; others only linger, and their state is not reported as trouble. */
  readonly isWanted: boolean;
}

/** Scope of a wait. */
export interface CacheScope {
  readonly namespace?: string;
}

/**
 * Informers by kind and shape, and a Reader over them. A kind is declared by `byObject`, by {@link informerFor} (which
 * is what a controller's watch does), by {@link acquire} or by {@link addIndex}; no read starts an informer unless
 * `undeclaredReads` allows it. Mirrors controller-runtime's `cache.Cache`.
 *
 * Objects are shared and frozen; reading costs no copy. Reads wait until their kind has synced, those of one namespace until
 * that one has, for as long as their signal allows. An object whose bytes cannot be read is left out of lists. Lists are in the order of namespace, then name. With `live: true` the server answers, within the scope
 * of the cache.
 */
export interface Cache extends Reader {
  readonly isStarted: boolean;
  /**
   * Declares a kind, and starts its informer once the cache runs. Full and untyped tokens share one.
   *
   * @throws TypeError when the kind is held stripped already, or whole if a stripped form is requested
   */
  informerFor<K extends Kind>(kind: K): SharedInformer<PersistedObject<K>>;
  /** {@link informerFor} as a promise. */
  informer<K extends Kind>(
    kind: K,
    options?: { readonly signal?: AbortSignal },
  ): Promise<SharedInformer<PersistedObject<K>>>;
  /** Borrows an informer. After the last loan it lingers, then it stops, unless the kind was declared otherwise. */
  acquire<K extends Kind>(kind: K): InformerLease<K>;
  /**
   * A further informer of a kind, with separate selectors and namespaces. It lists and watches beside that of
   * {@link informerFor} and runs with the cache. Reads of the cache do not see its objects; read its `lister`.
   *
   * @throws TypeError when the kind has one of that name already
   */
  selectedInformer<K extends Kind>(kind: K, options: SelectedInformerOptions): SharedInformer<PersistedObject<K>>;
  /**
   * Stops and forgets the informer of a kind, or a selected one of it by its name; its handlers get deletes marked
   * `leftScope`.
   */
  removeInformer(kind: Kind, name?: string): Promise<void>;
  /**
   * Adds an index that `list` uses for `fieldSelector: { [name]: value }`: over a path such as `spec.nodeName`, which
   * costs no parse, or a function. Declares the kind.
   */
  addIndex<K extends Kind>(kind: K, name: string, definition: IndexDefinition<PersistedObject<K>>): void;
  /**
   * Changes `defaultNamespaces` while running, for every kind that follows it. A new namespace is listed and then
   * becomes visible; the objects of a dropped one leave with deletes marked `leftScope`. A list of all namespaces waits
   * for one that replaces another, as a wider one or with other selectors. `{}` means none, so that a list of tenants
   * may become empty; all namespaces are `{ '': {} }`.
   */
  setNamespaces(namespaces: NamespaceScopes): Promise<void>;
  /**
   * Resolves when every declared informer has synced; one that is removed meanwhile is not waited for.
   *
   * @throws SyncError naming those that did not, and why, on timeout or when one stops
   */
  waitForSync(options?: InformerWaitOptions): Promise<void>;
  /**
   * Runs the informers until the signal aborts; resolves when all have ended. A cache runs once. Until then it keeps the
   * process alive.
   *
   * @throws the error that the watch error handler decided to stop for
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * The result that {@link get} would return, at once; undefined if `get` has to wait, to look further or to throw
   * because the kind is not synced or not declared or the object does not exist.
   */
  peek<K extends Kind>(kind: K, key: KeyOf<K>): ReadObject<K> | undefined;
  /** Whether this cache answers reads of this kind (in this namespace; in all if unset). */
  isCached(kind: Kind, namespace?: string): boolean;
  /** The version that every store answering for this kind has reached; '' if not known. */
  resourceVersionOf(kind: Kind, namespace?: string): string;
  /** Resolves when those stores are at this version or a newer one. @throws SyncError on timeout */
  waitForResourceVersion(
    kind: Kind,
    resourceVersion: string,
    options?: InformerWaitOptions & CacheScope,
  ): Promise<void>;
  /**
   * The contents of the stores of a kind, one entry for each list and watch; empty if the kind is not held. The same
   * array until that changes.
   */
  scopesOf(kind: Kind): readonly ReadScope[];
  /**
   * The namespaces that an informer of the kind lists and watches, held or not; undefined if all, if no namespaces are
   * known yet, or if the kind has none.
   */
  namespacesFor(kind: Kind): readonly string[] | undefined;
  /** The kinds of the same group and kind that have informers, one for each version. */
  versionsOf(kind: Kind): readonly Kind[];
  /** The fields that {@link addIndex} has made an index for. */
  indexedFields(kind: Kind): readonly string[];
  /**
   * Whether a list with these options contains an object, if a store holds it (as {@link project} makes it). Uses the
   * same selectors, evaluated by the same index definitions.
   *
   * @throws UnsupportedReadError as `list` does; KindNotCachedError
   */
  matcherFor(kind: Kind, options: ListOptions): (object: DeepReadonly<KubeObject>) => boolean;
  /**
   * A copy of the object as a store would hold it, frozen; undefined if namespaces, labels or fields exclude it. Fields
   * are evaluated as the API server does for built-in kinds, and by path for all others. If a transform fails, the
   * result is the store's content for the object (the previous version, if there is one).
   */
  project<K extends Kind>(kind: K, object: ObjectOf<K>): DeepReadonly<ObjectOf<K>> | undefined;
  /** Whether objects of this kind are held transformed, so that writing one back would lose data. */
  isLossy(kind: Kind): boolean;
  /** The informers, for health checks and debugging. */
  informers(): readonly InformerStatus[];
}
