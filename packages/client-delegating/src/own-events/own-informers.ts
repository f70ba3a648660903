import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { ReadObject } from '@kctl/client';
import { shownType } from '@kctl/options';
import { objectName } from './own-links.js';
import { UpdateGate } from './update-gate.js';
import type { GateParts, GateTraits, Versions } from './update-gate.js';

/** One change that an informer reports, as a controller receives it, decoded at first read. */
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

/** An informer on loan. It runs at least until the loan is returned. */
export interface ObservableLoan<T> extends AsyncDisposable {
  readonly informer: ObservableInformer<T>;
}

/** A source of informers, which is the cache of @kctl/cache or the input of a controller's `kindSource`. */
export interface ObservableInformers {
  informer<K extends Kind>(
    kind: K,
    options?: { readonly signal?: AbortSignal },
  ): Promise<ObservableInformer<ReadObject<K>>>;
  /**
   * Lends an informer, which may stop when the last loan is returned.
   *
   * @default informers are never returned
   */
  acquire?<K extends Kind>(kind: K): ObservableLoan<ReadObject<K>>;
}

/** @throws TypeError for what cannot be called with events, before the first one would fail */
export function requireObserver(caller: string, handler: unknown): void {
  const onEvent: unknown =
    typeof handler === 'object' && handler !== null ? Reflect.get(handler, 'onEvent') : undefined;
  if (typeof onEvent === 'function') return;
  throw new TypeError(`${caller}: onEvent of the handler is ${shownType(onEvent)}: expected a function of an event`);
}

/** @throws TypeError for what hands out no informers */
export function requireInformers(caller: string, informers: unknown): void {
  const informer: unknown =
    typeof informers === 'object' && informers !== null ? Reflect.get(informers, 'informer') : undefined;
  if (typeof informer === 'function') return;
  throw new TypeError(`${caller}: informers is ${shownType(informers)}: expected a cache, such as manager.cache`);
}

/** Informers whose handlers do not receive own updates. They are on loan if the originals are. */
export function withoutOwnUpdates(informers: ObservableInformers, parts: GateParts): ObservableInformers {
  const informer: ObservableInformers['informer'] = async (kind, options) =>
    gated(await informers.informer(kind, options), { ...parts, kind });
  if (!lends(informers)) return { informer };
  return {
    informer,
    acquire: (kind) => {
      const loan = informers.acquire(kind);
      return {
        informer: gated(loan.informer, { ...parts, kind }),
        [Symbol.asyncDispose]: async () => {
          await loan[Symbol.asyncDispose]();
        },
      };
    },
  };
}

interface LendingInformers extends ObservableInformers {
  acquire<K extends Kind>(kind: K): ObservableLoan<ReadObject<K>>;
}

function lends(informers: ObservableInformers): informers is LendingInformers {
  return informers.acquire !== undefined;
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

/** Merges two events that follow one another. Parts that are not read are not decoded. */
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
