import { formatGroupVersionKind, formatKey, StatusError } from '@kctl/apimachinery';
import type { Kind, ObjectKey } from '@kctl/apimachinery';

const cachedListCode = 'KCTL_CACHED_LIST';

/** Thrown when a list requests something that a cache cannot do. Read with `{ live: true }` if it is needed. */
export class CachedListError extends TypeError {
  override readonly name = 'CachedListError';
  readonly code: 'KCTL_CACHED_LIST' = cachedListCode;
  /** The option that cannot be honoured. */
  readonly option: string;

  constructor(kind: Kind, option: string, reason: string) {
    super(
      `list of ${formatGroupVersionKind(kind)} from the cache: option ${option}: ${reason}; read with { live: true } instead`,
    );
    this.option = option;
  }
}

/** Whether an error is a {@link CachedListError}, also one of another copy of this package. */
export function isCachedListError(error: unknown): error is CachedListError {
  return hasCode(error, cachedListCode);
}

const lossyWriteCode = 'KCTL_LOSSY_WRITE';

/** Thrown instead of replacing an object on the server by what a cache's transform left of it. */
export class LossyWriteError extends TypeError {
  override readonly name = 'LossyWriteError';
  readonly code: 'KCTL_LOSSY_WRITE' = lossyWriteCode;

  constructor(kind: Kind, key: ObjectKey) {
    super(
      `update ${formatGroupVersionKind(kind)} ${JSON.stringify(formatKey(key))}: the cache strips objects of this kind, so this update would delete what was stripped: patch it, or read it with { live: true } first`,
    );
  }
}

/** Whether an error is a {@link LossyWriteError}. */
export function isLossyWriteError(error: unknown): error is LossyWriteError {
  return hasCode(error, lossyWriteCode);
}

/** The answer that the server would give. */
export function notFound(kind: Kind, name: string): StatusError {
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  return new StatusError({
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    code: 404,
    reason: 'NotFound',
    message: `${resource} ${JSON.stringify(name)} not found`,
    details: { name, group: kind.group, kind: kind.plural },
  });
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
