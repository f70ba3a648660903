import { formatGroupKind, formatKey, isNotFound, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { headerOf } from '@kctl/apimachinery/wire';
import type { Reader, ReadObject } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import type { CacheView } from './cache-view.js';
import { orUndefined } from '../or-undefined.js';
import type { ObservableInformer, ObservedEvent } from '../own-events/own-informers.js';
import { isComparable, versionOf } from '../writes/own-write.js';
import { projected } from './projected.js';

/** What {@link Vanishings} needs. */
export interface VanishingsOptions {
  readonly cache: CacheView;
  readonly live: Reader;
  readonly logger: Logger;
  /** ms after which a write is no longer followed. */
  readonly ttlMs: number;
}

interface Observer {
  readonly kind: Kind;
  onEvent(event: ObservedEvent<never>): void | Promise<void>;
}

/**
 * Notices own objects that ended unseen: the cache has passed the version of the write and does not have the object,
 * so its informer may never have had it and has no delete to report. Nothing happens without an observer.
 */
export class Vanishings {
  readonly #options: VanishingsOptions;
  readonly #observers = new Set<Observer>();
  /** The last own write of each object that is followed. */
  readonly #followed = new Map<string, DeepReadonly<KubeObject>>();

  constructor(options: VanishingsOptions) {
    this.#options = options;
  }

  /** The ends of own objects of a kind, as an informer would tell them. */
  of<K extends Kind>(kind: K): ObservableInformer<ReadObject<K>> {
    return {
      addEventHandler: (handler) => {
        const observer: Observer = { kind, onEvent: (event) => handler.onEvent(event) };
        this.#observers.add(observer);
        return {
          hasSynced: true,
          waitForSync: () => Promise.resolve(),
          remove: () => void this.#observers.delete(observer),
        };
      },
    };
  }

  /** An own write has left this object behind. */
  wrote(kind: Kind, object: DeepReadonly<KubeObject>): void {
    for (const { kind: observed } of this.#observers)
      if (formatGroupKind(observed) === formatGroupKind(kind)) void this.#follow(observed, object);
  }

  /** An own write has ended the object, or made it unknown, as its writer has recorded. */
  ended(kind: Kind, key: ObjectKey): void {
    if (this.#followed.size === 0) return;
    for (const { kind: observed } of this.#observers)
      if (formatGroupKind(observed) === formatGroupKind(kind)) this.#followed.delete(nameOf(observed, key));
  }

  async #follow(kind: Kind, object: DeepReadonly<KubeObject>): Promise<void> {
    const { cache, live, logger, ttlMs } = this.#options;
    const key = keyOf(object);
    const { namespace } = key;
    if (!cache.isCached(kind, namespace) || !isComparable(versionOf(object))) return;
    const name = nameOf(kind, key);
    this.#followed.set(name, object);
    const isLast = (): boolean => this.#followed.get(name) === object;
    try {
      const held = projected(cache, kind, object);
      if (held === undefined) return;
      const within = namespace === undefined ? {} : { namespace };
      await cache.waitForResourceVersion(kind, versionOf(object), { ...within, timeoutMs: ttlMs });
      if (!isLast() || (await orUndefined(cache.get<Kind>(kind, key))) !== undefined) return;
      // The cache may look at a part of the kind that the object is not in: only the server knows.
      const isGone = await live.get<Kind>(kind, key).then(
        (found) => uidOf(found) !== uidOf(object),
        (error: unknown) => {
          if (isNotFound(error)) return true;
          throw error;
        },
      );
      if (isGone && isLast()) this.#tell(kind, held);
    } catch (error) {
      logger.debug('Cannot tell whether an own object is still there', { kind: formatGroupKind(kind), name, error });
    } finally {
      if (isLast()) this.#followed.delete(name);
    }
  }

  #tell(kind: Kind, object: DeepReadonly<KubeObject>): void {
    const event = {
      type: 'delete',
      header: headerOf(object),
      object,
      isInInitialList: false,
      finalStateUnknown: true,
    } as const;
    for (const observer of this.#observers)
      if (observer.kind === kind) void this.#call(observer, event as ObservedEvent<never>);
  }

  /** A handler that fails is logged and keeps nothing from the others. */
  async #call(observer: Observer, event: ObservedEvent<never>): Promise<void> {
    try {
      await observer.onEvent(event);
    } catch (error) {
      this.#options.logger.error('An event handler failed', { error });
    }
  }
}

function nameOf(kind: Kind, key: ObjectKey): string {
  return `${formatGroupKind(kind)} ${kind.version} ${kind.shape} ${formatKey(key)}`;
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function uidOf(object: object): string | undefined {
  return (object as DeepReadonly<KubeObject>).metadata.uid;
}
