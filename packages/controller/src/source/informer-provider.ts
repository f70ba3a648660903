import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { ReadObject } from '@kctl/client';

/** One change that an informer reports. `object` and `oldObject` may be decoded when they are read. */
export interface InformerEvent<T> {
  readonly type: 'add' | 'update' | 'delete';
  readonly header: ObjectHeader;
  /** undefined for an add. */
  readonly oldHeader?: ObjectHeader | undefined;
  /** The last known state for a delete. */
  readonly object: T;
  /** undefined for an add. */
  readonly oldObject?: T | undefined;
  readonly isInInitialList: boolean;
  readonly finalStateUnknown: boolean;
  /** A delete event for an object that still exists, whose namespace is no longer watched. */
  readonly leftScope?: boolean;
}

/** Called with changes synchronously, in the order of one object's changes, after the store has them. */
export interface InformerEventHandler<T> {
  onEvent(event: InformerEvent<T>): void;
}

/** One handler on one informer. */
export interface InformerRegistration {
  /** Whether the initial list was handed to this handler. */
  readonly hasSynced: boolean;
  /** Resolves once {@link InformerRegistration.hasSynced}; rejects with the signal's reason. */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Detaches the handler; no callback begins after it. */
  remove(): Promise<void> | void;
}

/** Requirements of a source on an informer; a `SharedInformer` of @kctl/informer meets them. */
export interface EventInformer<T> {
  addEventHandler(handler: InformerEventHandler<T>): InformerRegistration;
  /** The reason why it has not synced, if known. Included in the error of a sync that took too long. */
  readonly lastError?: unknown;
}

/** An informer on loan. It runs at least until the loan is returned. */
export interface InformerLoan<T> extends AsyncDisposable {
  readonly informer: EventInformer<T>;
}

/**
 * Provider of informers, such as `@kctl/cache`, or anything with the one method `informer`. It begins the informer
 * without waiting for its sync, and rejects when the kind cannot be served (yet).
 */
export interface InformerProvider {
  /**
   * Lends an informer, if the provider counts its users. It may stop when the last loan is returned. Sources prefer it,
   * so that the informer of a removed controller does not continue to watch.
   *
   * @default informers are never returned
   */
  acquire?<K extends Kind>(kind: K): InformerLoan<ReadObject<K>>;
  informer<K extends Kind>(kind: K, options?: { readonly signal?: AbortSignal }): Promise<EventInformer<ReadObject<K>>>;
}
