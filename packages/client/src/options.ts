import type { FieldSelector, LabelSelector, Selector } from '@kctl/apimachinery';

/** Cancellation; the last options field of everything that waits. */
export interface AbortOptions {
  /** Aborting it rejects the call with the signal's reason and releases what it holds. */
  readonly signal?: AbortSignal;
}

/** How a list relates to {@link ListOptions.resourceVersion}. */
export type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

/** Options of `get`. */
export interface GetOptions extends AbortOptions {
  /** "Not older than this"; '0' allows any cached state. The most recent if unset. Ignored by a cache. */
  readonly resourceVersion?: string;
  /** Reads from the server even if a cache could answer. @default false */
  readonly live?: boolean;
  /**
   * How a caching client treats own writes that its cache has not seen: `overlay` merges them, `barrier` waits for
   * them, `off` answers from the cache alone. Ignored by an uncached client. @default the client's setting
   */
  readonly readYourWrites?: 'overlay' | 'barrier' | 'off';
}

/** Options of `list`. */
export interface ListOptions extends GetOptions {
  /** Only this namespace. All namespaces if unset. */
  readonly namespace?: string;
  /** A parsed selector, the API object, a `key → value` record, or a string as kubectl takes it. */
  readonly labelSelector?: Selector | LabelSelector | Readonly<Record<string, string>> | string;
  /** A parsed selector, a `path → value` record, or a string as kubectl takes it. */
  readonly fieldSelector?: FieldSelector | Readonly<Record<string, string>> | string;
  /** At most this many items in one answer; 0 and `Infinity` do not limit it. @default no limit */
  readonly limit?: number;
  /** Token of the page to go on with. */
  readonly continue?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** Server-side limit for the call, in seconds. */
  readonly timeoutSeconds?: number;
}

/** Options of `watch`. */
export interface WatchOptions extends AbortOptions {
  readonly namespace?: string;
  readonly labelSelector?: ListOptions['labelSelector'];
  readonly fieldSelector?: ListOptions['fieldSelector'];
  /** Events after this version. If '' or unset, starts with synthetic ADDED events of the current state. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  /** Requests BOOKMARK events. @default false */
  readonly allowWatchBookmarks?: boolean;
  /** WatchList, which sends first the current state, then a bookmark that ends it, then live events. */
  readonly sendInitialEvents?: boolean;
  /** The server ends the stream after this many seconds. */
  readonly timeoutSeconds?: number;
}

/** How the server treats unknown or duplicate fields. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Options that every write has. */
export interface WriteOptions extends AbortOptions {
  /** Runs everything, persists nothing. @default false */
  readonly dryRun?: boolean;
  /** Name under which the server records field ownership. */
  readonly fieldOwner?: string;
  /** @default the server's (Warn) */
  readonly fieldValidation?: FieldValidation;
}

/** Options of `create`. */
export type CreateOptions = WriteOptions;

/** Options of `update`. */
export type UpdateOptions = WriteOptions;

/** Options of `patch`. */
export interface PatchOptions extends WriteOptions {
  /** Apply only. Takes over fields that others own. @default false */
  readonly force?: boolean;
}

/** Preconditions of a delete; if they do not hold, it fails with a conflict. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** How dependents are deleted. */
export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

/** Options of `delete`. */
export interface DeleteOptions extends AbortOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: Preconditions;
  readonly propagationPolicy?: PropagationPolicy;
  /**
   * Deletes an object that the server cannot read from its store, because it is corrupt, or encrypted with a lost key.
   * Finalizers and preconditions are ignored, and dependents of the object may be left behind. Servers refuse it
   * without the right to the verb `unsafe-delete-ignore-read-errors`, and beside other options or in `deleteAllOf`;
   * without the feature gate `AllowUnsafeMalformedObjectDeletion` it has no effect.
   *
   * @default false
   */
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** Options of `deleteAllOf`. */
export interface DeleteAllOfOptions extends DeleteOptions {
  readonly namespace?: string;
  readonly labelSelector?: ListOptions['labelSelector'];
  readonly fieldSelector?: ListOptions['fieldSelector'];
}
