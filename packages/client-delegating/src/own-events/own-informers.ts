import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/wire';
import type { ReadObject } from '@kctl/client';
import { objectName } from './own-links.js';
import { UpdateGate } from './update-gate.js';
import type { GateParts, GateTraits, Versions } from './update-gate.js';

/** One change that an informer reports, as a controller takes it: decoded at first read. */
export interface ObservedEvent<T> {
  readonly type: 'add' | 'update' | 'delete';
  readonly header: ObjectHeader;
  readonly oldHeader?: ObjectHeader | undefined;
  readonly object: T;
  readonly oldObject?: T | undefined;
  readonly isInInitialList: boolean;
  readonly finalStateUnknown: boolean;
  readonly leftScope?: boolean;
}

/** One handler on one informer. */
export interface ObserverRegistration {
  readonly hasSynced: boolean;
  waitForSync(options?: { readonly signal?: AbortSignal }): Promise<void>;
  remove(): Promise<void> | void;
}

/** An informer that reports its changes. */
export interface ObservableInformer<T> {
  addEventHandler(handler: { onEvent(event: ObservedEvent<T>): void | Promise<void> }): ObserverRegistration;
  readonly lastError?: unknown;
}

/** Who hands out informers: the cache of @kctl/cache, or what a controller's `kindSource` takes. */
export interface ObservableInformers {
  informer<K extends Kind>(
    kind: K,
    options?: { readonly signal?: AbortSignal },
  ): Promise<ObservableInformer<ReadObject<K>>>;
}

/** Informers whose handlers do not receive own updates. */
export function withoutOwnUpdates(informers: ObservableInformers, parts: GateParts): ObservableInformers {
  return {
    informer: async (kind, options) => {
      const informer = await informers.informer(kind, options);
      return gated(informer, { ...parts, kind });
    },
  };
}

function gated<T>(informer: ObservableInformer<T>, parts: GateParts & { readonly kind: Kind }): ObservableInformer<T> {
  return {
    get lastError() {
      return informer.lastError;
    },
    addEventHandler: (handler) => {
      const traits = traitsOf<T>(parts.kind);
      const gate = new UpdateGate<ObservedEvent<T>>({ ...parts, traits, call: (event) => handler.onEvent(event) });
      const registration = informer.addEventHandler({ onEvent: (event) => gate.take(event) });
      return {
        get hasSynced() {
          return registration.hasSynced;
        },
        waitForSync: (options) => registration.waitForSync(options),
        remove: async () => {
          const closed = gate.close();
          await registration.remove();
          await closed;
        },
      };
    },
  };
}

function traitsOf<T>(kind: Kind): GateTraits<ObservedEvent<T>> {
  const versionsOf = ({ header, oldHeader }: ObservedEvent<T>): Versions => ({
    from: oldHeader?.resourceVersion ?? '',
    to: header.resourceVersion,
  });
  return {
    keyOf: ({ header: { namespace, name } }) => objectName(kind, namespace === '' ? { name } : { namespace, name }),
    typeOf: ({ type }) => type,
    versionsOf,
    isResync: (event) => event.type === 'update' && event.oldHeader?.resourceVersion === event.header.resourceVersion,
    mergeAdd: (add, latest) => new MergedEvent('add', add, latest),
    mergeUpdate: (first, latest) => new MergedEvent('update', first, latest),
  };
}

/** Two events that follow one another, as one. What nothing reads stays undecoded. */
class MergedEvent<T> implements ObservedEvent<T> {
  readonly type: 'add' | 'update';
  readonly isInInitialList: boolean;
  readonly finalStateUnknown = false;
  readonly leftScope = false;
  readonly #first: ObservedEvent<T>;
  readonly #last: ObservedEvent<T>;

  constructor(type: 'add' | 'update', first: ObservedEvent<T>, last: ObservedEvent<T>) {
    this.type = type;
    this.isInInitialList = first.isInInitialList;
    this.#first = first;
    this.#last = last;
  }

  get header(): ObjectHeader {
    return this.#last.header;
  }

  get oldHeader(): ObjectHeader | undefined {
    return this.#first.oldHeader;
  }

  get object(): T {
    return this.#last.object;
  }

  get oldObject(): T | undefined {
    return this.#first.oldObject;
  }
}
