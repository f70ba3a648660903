import type { DeepReadonly, Kind, ObjectOf } from '@kctl/apimachinery';

/** Callbacks of an informer: synchronous, in the order of the events of one object, after the store was updated. */
export interface InformerEventHandler<T> {
  onAdd(object: T, info: { readonly isInInitialList: boolean }): void;
  onUpdate(oldObject: T, newObject: T): void;
  onDelete(object: T, info: { readonly finalStateUnknown: boolean }): void;
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

/** What a source needs of an informer. */
export interface EventInformer<T> {
  addEventHandler(handler: InformerEventHandler<T>): InformerRegistration;
}

/**
 * Who hands out informers: `@kctl/cache`, or anything with this one method. It begins the informer without waiting for
 * its sync, and rejects when the kind cannot be served (yet).
 */
export interface InformerProvider {
  informer<K extends Kind>(
    kind: K,
    options?: { readonly signal?: AbortSignal },
  ): Promise<EventInformer<DeepReadonly<ObjectOf<K>>>>;
}
