import { formatKey, isForbidden, keyOf } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { DeepReadonly, Kind, KubeObject, ObjectKey } from '@kctl/apimachinery';
import { headerOf } from '@kctl/apimachinery/internal/wire';
import type { Reader, ReadObject } from '@kctl/client';
import type { Logger } from '@kctl/telemetry';
import { createBackoff, retry } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import type { CacheView } from './cache-view.js';
import { orUndefined } from '../or-undefined.js';
import { requireObserver } from '../own-events/own-informers.js';
import type { ObservableInformer, ObservedEvent } from '../own-events/own-informers.js';
import { isComparable, versionOf } from '../writes/own-write.js';
import { projected } from './projected.js';

/** Options for {@link Vanishings}. */
export interface VanishingsOptions {
  readonly cache: CacheView;
  readonly live: Reader;
  readonly logger: Logger;
  readonly clock: Clock;
}

interface Observer {
  readonly kind: Kind;
  onEvent(event: ObservedEvent<never>): void | Promise<void>;
}

/** Why an own write is no longer followed; one for all, because an error costs its stack. */
const replaced = new DOMException('another own write is followed', 'AbortError');

/** An own write that the cache has not caught up with. */
interface Followed {
  readonly object: DeepReadonly<KubeObject>;
  readonly end: AbortController;
}

/**
 * Notices own objects that ended unseen, that is, the cache has passed the version of the write and does not have the
 * object, so its informer may never have had it and has no delete to report. A write is followed until then, however
 * long a watch hangs, because giving up would lose a wake-up for good. So it retains one object for each key that was
 * written since the cache fell behind. Nothing happens without an observer.
 */
export class Vanishings {
  readonly #options: VanishingsOptions;
  readonly #observers = new Set<Observer>();
  /** The last own write of each object, by the kinds that observers requested. */
  readonly #followed = new Map<Kind, Map<string, Followed>>();

  constructor(options: VanishingsOptions) {
    this.#options = options;
  }

  /** The ends of own objects of a kind, as an informer would report them. */
  of<K extends Kind>(kind: K): ObservableInformer<ReadObject<K>> {
    return {
      addEventHandler: (handler) => {
        requireObserver('vanished: addEventHandler', handler);
        const observer: Observer = { kind, onEvent: (event) => handler.onEvent(event) };
        this.#observers.add(observer);
        return {
          hasSynced: true,
          waitForSync: () => Promise.resolve(),
          remove: () => this.#leave(observer),
        };
      },
    };
  }

  /** An own write has left this object behind. */
  wrote(kind: Kind, object: DeepReadonly<KubeObject>): void {
    for (const observed of this.#kindsLike(kind)) void this.#follow(observed, object);
  }

  /** An own write has ended the object, or made it unknown, as its writer has recorded. */
  ended(kind: Kind, key: ObjectKey): void {
    if (this.#followed.size === 0) return;
    for (const observed of this.#kindsLike(kind)) this.#forget(observed, formatKey(key));
  }

  #leave(observer: Observer): void {
    this.#observers.delete(observer);
    const { kind } = observer;
    if ([...this.#observers].some((other) => other.kind === kind)) return;
    for (const name of this.#followed.get(kind)?.keys() ?? []) this.#forget(kind, name);
  }

  /** The tokens of this kind that observers requested; each has a separate shape. */
  #kindsLike(kind: Kind): Set<Kind> {
    const found = new Set<Kind>();
    if (this.#observers.size === 0) return found;
    const wanted = formatGroupKind(kind);
    for (const { kind: observed } of this.#observers) if (formatGroupKind(observed) === wanted) found.add(observed);
    return found;
  }

  #forget(kind: Kind, name: string): void {
    this.#followed.get(kind)?.get(name)?.end.abort(replaced);
    this.#drop(kind, name);
  }

  #drop(kind: Kind, name: string): void {
    const ofKind = this.#followed.get(kind);
    ofKind?.delete(name);
    if (ofKind?.size === 0) this.#followed.delete(kind);
  }

  async #follow(kind: Kind, object: DeepReadonly<KubeObject>): Promise<void> {
    const { cache, live, logger, clock } = this.#options;
    const key = keyOf(object);
    const { namespace } = key;
    if (!cache.isCached(kind, namespace) || !isComparable(versionOf(object))) return;
    const name = formatKey(key);
    this.#forget(kind, name);
    const followed: Followed = { object, end: new AbortController() };
    const ofKind = this.#followed.get(kind) ?? new Map<string, Followed>();
    this.#followed.set(kind, ofKind.set(name, followed));
    const isLast = (): boolean => this.#followed.get(kind)?.get(name) === followed;
    try {
      const { signal } = followed.end;
      const within = namespace === undefined ? { signal } : { namespace, signal };
      await cache.waitForResourceVersion(kind, versionOf(object), within);
      if (!isLast() || cache.peek?.(kind, key) !== undefined) return;
      if ((await orUndefined(cache.get<Kind>(kind, key))) !== undefined) return;
      const held = projected(cache, kind, object);
      if (held === undefined) return;
      // The cache may cover a part of the kind that does not contain the object, so only the server knows.
      const found = await retry(() => orUndefined(live.get<Kind>(kind, key, { signal })), {
        backoff: createBackoff({ initialMs: 1000, capMs: 60_000, jitter: 0, clock }),
        isRetriable: (error) => !isForbidden(error),
        signal,
        clock,
      });
      const isGone = found === undefined || uidOf(found) !== uidOf(object);
      if (isGone && isLast()) this.#tell(kind, held);
    } catch (error) {
      if (isLast())
        logger.debug('cannot tell whether an own object is still there', { kind: formatGroupKind(kind), name, error });
    } finally {
      // Its signal is no longer needed.
      if (isLast()) this.#drop(kind, name);
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
      this.#options.logger.error('an event handler failed', { error });
    }
  }
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function uidOf(object: object): string | undefined {
  return (object as DeepReadonly<KubeObject>).metadata.uid;
}
