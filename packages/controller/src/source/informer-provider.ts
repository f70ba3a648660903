import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/wire';
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
  /** A delete that is none: the object is there, but its namespace is no longer watched. */
  readonly leftScope?: boolean;
}

/** Called with changes: synchronously, in the order of one object's changes, after the store has them. */
export interface InformerEventHandler<T> {
  onEvent(event: InformerEvent<T>): void;
}

/** One handler on one informer. */
export interface InformerRegistration {
  /** Whether the initial list was handed to this handler. */
  readonly hasSynced: boolean;
  /** Resolves once {@link InformerRegistration.hasSynced}; rejects with the signal's reason. */
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Detaches the handler: no callback begins after it. */
  remove(): Promise<void> | void;
}

/** What a source needs of an informer; a `SharedInformer` of @kctl/informer is one. */
export interface EventInformer<T> {
  addEventHandler(handler: InformerEventHandler<T>): InformerRegistration;
  /** Why it has not synced, where there is a reason: it goes into the error of a sync that took too long. */
  readonly lastError?: unknown;
}

/** An informer on loan: it runs at least until the loan is returned. */
export interface InformerLoan<T> extends AsyncDisposable {
  readonly informer: EventInformer<T>;
}

/**
 * What hands out informers: `@kctl/cache`, or anything with the one method `informer`. It begins the informer without
 * waiting for its sync, and rejects when the kind cannot be served (yet).
 */
export interface InformerProvider {
  /**
   * Lends an informer, where the provider counts its users: it may stop when the last loan is returned. Sources prefer
   * it, so that the informer of a removed controller does not watch on.
   *
   * @default informers are never returned
   */
  acquire?<K extends Kind>(kind: K): InformerLoan<ReadObject<K>>;
  informer<K extends Kind>(kind: K, options?: { readonly signal?: AbortSignal }): Promise<EventInformer<ReadObject<K>>>;
}
