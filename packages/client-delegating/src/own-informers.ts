import type { Kind } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/wire';
import type { ReadObject } from '@kctl/client';
import { objectName } from './own-links.js';
import { UpdateGate } from './update-gate.js';
import type { UpdateGateOptions } from './update-gate.js';

/** One change that an informer reports, as a controller takes it: decoded when somebody reads it. */
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

/** An informer that tells of its changes. */
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

/** What a gate in front of an informer's handler needs besides events. */
export type GateParts = Pick<UpdateGateOptions<never>, 'writes' | 'clock' | 'maxHoldMs'> & {
  /** Calls a handler with what was held: whoever releases it must not hear how the handler fails. */
  readonly call: (deliver: () => void | Promise<void>) => void;
};

/** Informers whose handlers do not hear of own updates. */
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
      const merge = (first: ObservedEvent<T>, last: ObservedEvent<T>): ObservedEvent<T> =>
        new MergedUpdate(first, last);
      const deliver = (event: ObservedEvent<T>): void => parts.call(() => handler.onEvent(event));
      const gate = new UpdateGate<ObservedEvent<T>>({ ...parts, merge, deliver });
      const registration = informer.addEventHandler({
        onEvent: (event) => {
          const { namespace, name, resourceVersion } = event.header;
          const object = objectName(parts.kind, namespace === '' ? { name } : { namespace, name });
          if (event.type !== 'update') gate.drop(object);
          else {
            const versions = { from: event.oldHeader?.resourceVersion ?? '', to: resourceVersion };
            if (!gate.admits({ object, versions, event })) return undefined;
          }
          return handler.onEvent(event);
        },
      });
      return {
        get hasSynced() {
          return registration.hasSynced;
        },
        waitForSync: (options) => registration.waitForSync(options),
        remove: () => {
          gate.close();
          return registration.remove();
        },
      };
    },
  };
}

/** Two updates that follow one another, as one. What nobody reads stays undecoded. */
class MergedUpdate<T> implements ObservedEvent<T> {
  readonly type = 'update';
  readonly isInInitialList = false;
  readonly finalStateUnknown = false;
  readonly leftScope = false;
  readonly #first: ObservedEvent<T>;
  readonly #last: ObservedEvent<T>;

  constructor(first: ObservedEvent<T>, last: ObservedEvent<T>) {
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
