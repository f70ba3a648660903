import type { Kind, KubeObject, Selector, StrippedKind } from '@kctl/apimachinery';
import type { ListOptions } from '@kctl/client';
import type {
  InformerClient,
  InformerTrouble,
  ListerWatcher,
  ListerWatcherScope,
  ObjectStorage,
  ReflectorBackoff,
  WatchErrorDecision,
} from '@kctl/informer';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';

/** Options for the objects of a scope in a cache. Every field that is not given comes from the next level. */
export interface ScopeOptions {
  /** Only objects with these labels, chosen by the server. */
  readonly labelSelector?: NonNullable<ListOptions['labelSelector']>;
  /** Only objects with these fields, chosen by the server. `metadata.namespace=x` becomes a list within x. */
  readonly fieldSelector?: NonNullable<ListOptions['fieldSelector']>;
  /**
   * Changes each object once before it is stored; forces every object to be parsed. For kinds that are declared as
   * `stripped(kind)`, because nothing else would prevent a stripped object from being written back as a whole one. In
   * `defaults` and `defaultNamespaces` it applies to stripped and metadata-only kinds, and a kind that is held whole is
   * refused unless it sets `transform: null`.
   */
  readonly transform?: ((object: KubeObject) => KubeObject) | null;
  /** Hands out mutable objects. Favors speed, without protection of the cache from changes. @default false */
  readonly unsafeMutableObjects?: boolean;
  /** @default true */
  readonly bookmarks?: boolean;
  /** Default resync period of handlers, in ms. @default 0: never */
  readonly resyncMs?: number;
  /** @default false, which removes managedFields */
  readonly keepManagedFields?: boolean;
  /**
   * `compact` compresses the objects that have been unchanged for longest. Intended for hundreds of thousands of
   * objects, most of which are seldom read. It has no effect if there is a `transform`. See the README of
   * @kctl/informer for its cost.
   *
   * @default 'plain'
   */
  readonly storage?: ObjectStorage;
}

/** Namespaces, each with what differs in it. The key '' stands for all namespaces that are not named beside it. */
export type NamespaceScopes = Readonly<Record<string, ScopeOptions>>;

interface KindScopes extends ScopeOptions {
  /** If unset, the cache's `defaultNamespaces`. `{}` means all namespaces, whatever the default. */
  readonly namespaces?: NamespaceScopes;
}

/** A kind that is cached as the server sends it. */
export interface WholeKindOptions extends KindScopes {
  readonly kind: Kind;
  /**
   * `null` keeps the kind whole if `defaults` have a transform. See {@link StrippedKindOptions} for a dedicated
   * transform.
   */
  readonly transform?: null;
}

/** A kind of which a transform leaves less: `kind: stripped(Pod)`. It is read by that token; `Pod` is read live. */
export interface StrippedKindOptions extends KindScopes {
  readonly kind: StrippedKind;
}

/** Options for one kind. Mirrors `cache.ByObject`. */
export type KindOptions = WholeKindOptions | StrippedKindOptions;

/** Options for the content of {@link Cache.selectedInformer}. */
export interface SelectedInformerOptions extends Omit<ScopeOptions, 'transform'> {
  /** Distinguishes it from others of its kind, in logs and metrics, too. */
  readonly name: string;
  /** Whether the manager is ready only if it has synced. @default true */
  readonly isWanted?: boolean;
  /** @default the namespaces of the kind in this cache, each field that is not given here from the namespace's entry */
  readonly namespaces?: NamespaceScopes;
}

/** Options of `createCache`. */
export interface CacheOptions {
  /**
   * Goes before the names of informers in logs and metrics, as `west/pods`: for caches of several clusters that share
   * metrics.
   *
   * @default none; a second cache that shares the metrics of another goes by `cache-2`, a third by `cache-3`, …; a name is free
   *   again when its cache has ended, or was collected without having run
   */
  readonly name?: string;
  /** Lists and watches. Bytes are used if it yields them. */
  readonly client: InformerClient;
  /** Kinds with dedicated options. Naming a kind here declares it, so its informer starts with the cache. */
  readonly byObject?: readonly KindOptions[];
  /** Unset or `{}`: all namespaces. (In `setNamespaces`, `{}` means none.) @default all namespaces */
  readonly defaultNamespaces?: NamespaceScopes;
  /** Options that apply unless a namespace or a kind sets others. */
  readonly defaults?: ScopeOptions;
  /**
   * Behavior of a read of an undeclared kind (one that is not in `byObject`, `informerFor`, `addIndex`). `error` throws
   * KindNotCachedError, on which a delegating client reads live; `start` starts an informer for the whole kind.
   *
   * @default 'error'
   */
  readonly undeclaredReads?: 'error' | 'start';
  /** How long an informer that was acquired goes on after its last release, in ms. @default 30_000 */
  readonly lingerMs?: number;
  /** Called with every failed list or watch; `stop` ends the cache with the error. */
  readonly watchErrorHandler?: (kind: Kind, trouble: InformerTrouble) => WatchErrorDecision | undefined;
  /** Makes the ListerWatchers instead of `client`: for tests and unusual sources. */
  readonly listerWatcherFor?: <T extends KubeObject>(kind: Kind<T>, scope: ListerWatcherScope) => ListerWatcher<T>;
  /** Whether informers start by streaming if the server supports it. @default true */
  readonly watchList?: boolean;
  /** The minimum watch timeout requested from servers, in ms; the maximum is twice that. @default 300_000 */
  readonly minWatchTimeoutMs?: number;
  /**
   * A watch without any frame for this long, in ms, is taken for dead.
   *
   * @default the server's timeout plus 5 s, or 3 min once the server has shown that it sends bookmarks
   */
  readonly idleTimeoutMs?: number;
  /** A list, or the start of a stream, without any bytes for this long, in ms, is given up. @default 60_000 */
  readonly listIdleTimeoutMs?: number;
  /** Back-off between lists and watches that fail. @default client-go's: 800 ms, doubled up to 30 s */
  readonly backoff?: ReflectorBackoff;
  /** How long an InternalError within a stream is answered by reopening the watch, in ms. @default 0 (never) */
  readonly maxInternalErrorRetryMs?: number;
  /** Measures each callback of each handler, see the informer's option. @default false */
  readonly handlerMetrics?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** One informer's worth of a kind. */
export interface ResolvedScope extends Omit<ScopeOptions, 'transform'> {
  readonly transform?: (object: KubeObject) => KubeObject;
  /** '' for all (or all other) namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  /** Scope to list and watch. */
  readonly listScope: ListerWatcherScope;
  /** Whether this scope's informer would hold an object with these labels, if that can be determined. */
  readonly labels: Selector | undefined;
}
