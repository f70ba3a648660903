import type { GroupVersionKind } from '@kctl/apimachinery';
import { formatGroupVersionKind } from '@kctl/apimachinery';

/** Thrown by reads before `run`. Mirrors `ErrCacheNotStarted`. */
export class CacheNotStartedError extends Error {
  override readonly name = 'CacheNotStartedError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_CACHE_NOT_STARTED' as const;

  constructor() {
    super('the cache is not started, can not read objects: call run first');
  }
}

/** Thrown by reads of a kind that was not declared. Mirrors `ErrResourceNotCached`. */
export class KindNotCachedError extends Error {
  override readonly name = 'KindNotCachedError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_KIND_NOT_CACHED' as const;
  readonly kind: GroupVersionKind;

  constructor(kind: GroupVersionKind) {
    super(
      `${formatGroupVersionKind(kind)} is not cached: declare it in the cache's byObject, watch it, or read it live; undeclaredReads: 'start' would cache every kind that is read`,
    );
    this.kind = kind;
  }
}

/** Thrown by reads in a namespace that the cache does not cover. */
export class UnknownNamespaceError extends Error {
  override readonly name = 'UnknownNamespaceError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_UNKNOWN_NAMESPACE' as const;
  readonly namespace: string;

  constructor(what: string, namespace: string) {
    super(`unable to ${what} because of unknown namespace for the cache: ${namespace}`);
    this.namespace = namespace;
  }
}

/** Thrown by reads that require something that a cache cannot do. */
export class UnsupportedReadError extends Error {
  override readonly name = 'UnsupportedReadError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_UNSUPPORTED_READ' as const;
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** Whether an error is a {@link CacheNotStartedError}, also one of another copy of this package. */
export function isCacheNotStarted(error: unknown): error is CacheNotStartedError {
  return hasCode(error, 'KCTL_CACHE_NOT_STARTED');
}

/** Whether an error is a {@link KindNotCachedError}, also one of another copy of this package. */
export function isKindNotCached(error: unknown): error is KindNotCachedError {
  return hasCode(error, 'KCTL_KIND_NOT_CACHED');
}

/** Whether an error is an {@link UnknownNamespaceError}, also one of another copy of this package. */
export function isUnknownNamespace(error: unknown): error is UnknownNamespaceError {
  return hasCode(error, 'KCTL_UNKNOWN_NAMESPACE');
}

/** Whether an error is an {@link UnsupportedReadError}, also one of another copy of this package. */
export function isUnsupportedRead(error: unknown): error is UnsupportedReadError {
  return hasCode(error, 'KCTL_UNSUPPORTED_READ');
}
