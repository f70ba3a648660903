import type { InformerState } from './informer-state.js';

/**
 * Thrown at the read of an object whose bytes turn out not to be valid. Lists leave the object out, and the informer
 * reports it once; the next version of the object, or the next list, replaces it.
 */
export class ObjectDecodeError extends Error {
  override readonly name = 'ObjectDecodeError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_OBJECT_DECODE' as const;
  /** `namespace/name`. */
  readonly key: string;

  constructor(key: string, options: ErrorOptions) {
    super(`cannot decode ${key}: its bytes are not a valid object`, options);
    this.key = key;
  }
}

/** Thrown when a wait for an informer or handler ends before it has synced; names its last operation. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_SYNC' as const;
  /** The informers that had not synced, with what they were doing. */
  readonly informers: readonly { readonly name: string; readonly state: InformerState }[];

  constructor(
    message: string,
    informers: readonly { readonly name: string; readonly state: InformerState }[],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.informers = informers;
  }
}

/** Thrown when an operation is called on an informer that has stopped. */
export class InformerStoppedError extends Error {
  override readonly name = 'InformerStoppedError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_INFORMER_STOPPED' as const;
}

/** Thrown by `run` when the informer was started before. */
export class InformerStartedError extends Error {
  override readonly name = 'InformerStartedError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_INFORMER_STARTED' as const;
}

/** Thrown (as the failure of a watch) when no frame arrived for too long. */
export class IdleWatchError extends Error {
  override readonly name = 'IdleWatchError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_IDLE_WATCH' as const;
  readonly idleMs: number;

  constructor(what: string, idleMs: number) {
    super(`${what} was silent for ${idleMs} ms: the connection is taken for dead`);
    this.idleMs = idleMs;
  }
}

/** The failure of a watch that ended within a second without anything new. Mirrors client-go's "very short watch". */
export class ShortWatchError extends Error {
  override readonly name = 'ShortWatchError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_SHORT_WATCH' as const;
}

/** The failure of a stream whose initial events did not end with the corresponding bookmark (WatchList). */
export class InitialEventsError extends Error {
  override readonly name = 'InitialEventsError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_INITIAL_EVENTS' as const;
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

/** Whether an error is an {@link ObjectDecodeError}, also one of another copy of this package. */
export function isObjectDecodeError(error: unknown): error is ObjectDecodeError {
  return hasCode(error, 'KCTL_OBJECT_DECODE');
}

/** Whether an error is a {@link SyncError}, also one of another copy of this package. */
export function isSyncError(error: unknown): error is SyncError {
  return hasCode(error, 'KCTL_SYNC');
}

/** Whether an error is an {@link InformerStoppedError}, also one of another copy of this package. */
export function isInformerStopped(error: unknown): error is InformerStoppedError {
  return hasCode(error, 'KCTL_INFORMER_STOPPED');
}

/** Whether an error is an {@link InformerStartedError}, also one of another copy of this package. */
export function isInformerStarted(error: unknown): error is InformerStartedError {
  return hasCode(error, 'KCTL_INFORMER_STARTED');
}

/** Whether an error is an {@link IdleWatchError}, also one of another copy of this package. */
export function isIdleWatch(error: unknown): error is IdleWatchError {
  return hasCode(error, 'KCTL_IDLE_WATCH');
}

/** Whether an error is a {@link ShortWatchError}, also one of another copy of this package. */
export function isShortWatch(error: unknown): error is ShortWatchError {
  return hasCode(error, 'KCTL_SHORT_WATCH');
}

/** Whether an error is an {@link InitialEventsError}, also one of another copy of this package. */
export function isInitialEvents(error: unknown): error is InitialEventsError {
  return hasCode(error, 'KCTL_INITIAL_EVENTS');
}
