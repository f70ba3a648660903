import { keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject, ObjectKey, ObjectOf } from '@kctl/apimachinery';
import { intercept } from '@kctl/client';
import type { Client, SubResourceClient } from '@kctl/client';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import type { Logger, Metrics } from '@kctl/telemetry';
import { systemClock } from '@kctl/wait';
import type { Clock, ClockTimer } from '@kctl/wait';
import { guardOf, objectName, OwnLinks } from './own-links.js';
import { versionOf } from './own-write.js';

/** The callbacks of an informer's handler; that of @kctl/informer satisfies it. */
export interface ObjectEventHandler<T, A, U extends { readonly isResync: boolean }, D> {
  onAdd?(object: DeepReadonly<T>, info: A): void | Promise<void>;
  onUpdate?(oldObject: DeepReadonly<T>, newObject: DeepReadonly<T>, info: U): void | Promise<void>;
  onDelete?(object: DeepReadonly<T>, info: D): void | Promise<void>;
}

/** Options of {@link createOwnEvents}. */
export interface OwnEventsOptions {
  /** ms after which an update is delivered although a write of its object is still under way. @default 30_000 */
  readonly maxHoldMs?: number;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Keeps the updates that own writes cause from handlers that have nothing to learn from them. */
export interface OwnEvents {
  /** The client whose writes are known as own. */
  wrapClient(client: Client): Client;
  /**
   * The handler without own updates. Adds and deletes always reach it, at once; so do resyncs. An update of an object
   * that is being written waits until the write is answered, merged with those that follow it.
   */
  wrapHandler<K extends Kind, A, U extends { readonly isResync: boolean }, D>(
    kind: K,
    handler: ObjectEventHandler<ObjectOf<K>, A, U, D>,
  ): ObjectEventHandler<ObjectOf<K>, A, U, D>;
}

/**
 * Makes a filter for own events: off unless a handler is wrapped, because only its owner knows that what it wrote needs
 * no second look.
 *
 * An update is kept back only where own writes alone, each guarded by the resourceVersion that it started from, lead
 * from the version that the handler saw last to the new one: then nothing foreign can be inside. The events of writes
 * without such a guard (a plain merge patch, a forced apply), and of writes whose answer was lost, are delivered.
 */
export function createOwnEvents(options: OwnEventsOptions = {}): OwnEvents {
  return new OwnEventFilter(options);
}

/** An update that waits for the end of a write. */
interface Held {
  deliver(): void;
}

class OwnEventFilter implements OwnEvents {
  readonly #links = new OwnLinks();
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #maxHoldMs: number;
  readonly #suppressed: (kind: Kind) => void;
  /** How many writes of an object are under way. */
  readonly #windows = new Map<string, number>();
  readonly #held = new Map<string, Set<Held>>();

  constructor({
    maxHoldMs = 30_000,
    logger = noopLogger,
    metrics = noopMetrics,
    clock = systemClock,
  }: OwnEventsOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#maxHoldMs = maxHoldMs;
    const counter = metrics.counter({
      name: 'kctl_client_own_events_suppressed_total',
      help: 'Number of update events that were caused by own writes alone and kept from their handler.',
      labelNames: ['group', 'kind'],
    });
    this.#suppressed = ({ group, kind }) => counter.with({ group, kind }).inc();
  }

  wrapClient(client: Client): Client {
    return intercept(client, (next) => ({
      update: (kind, object, options) => {
        const { key, from } = startOf(object);
        return this.#within({ kind, key, from }, () => next.update(kind, object, options));
      },
      patch: (kind, key, patch, options) =>
        this.#within({ kind, key, from: guardOf(patch) }, () => next.patch(kind, key, patch, options)),
      subResource: <K extends Kind, B extends object>(kind: K, name: string): Partial<SubResourceClient<K, B>> => {
        const live = next.subResource<K, B>(kind, name);
        return {
          update: (key, body, options) => {
            const { from } = startOf(body);
            return this.#within({ kind, key, from }, () => live.update(key, body, options));
          },
          patch: (key, patch, options) =>
            this.#within({ kind, key, from: guardOf(patch) }, () => live.patch(key, patch, options)),
        };
      },
    }));
  }

  wrapHandler<K extends Kind, A, U extends { readonly isResync: boolean }, D>(
    kind: K,
    handler: ObjectEventHandler<ObjectOf<K>, A, U, D>,
  ): ObjectEventHandler<ObjectOf<K>, A, U, D> {
    const waiting = new Map<string, HeldUpdate<ObjectOf<K>, U>>();
    const drop = (object: DeepReadonly<ObjectOf<K>>): void => {
      const name = objectName(kind, keyOf(asObject(object)));
      const held = waiting.get(name);
      if (held === undefined) return;
      waiting.delete(name);
      this.#release(name, held);
    };
    return {
      onAdd: (object, info) => {
        drop(object);
        return handler.onAdd?.(object, info);
      },
      onDelete: (object, info) => {
        drop(object);
        return handler.onDelete?.(object, info);
      },
      onUpdate: (oldObject, newObject, info) => {
        const name = objectName(kind, keyOf(asObject(newObject)));
        const held = waiting.get(name);
        if (held !== undefined) {
          held.newObject = newObject;
          if (!info.isResync) held.info = info;
          return undefined;
        }
        if (info.isResync) return handler.onUpdate?.(oldObject, newObject, info);
        if (!this.#windows.has(name)) {
          if (this.#isOwn(kind, name, oldObject, newObject)) return undefined;
          return handler.onUpdate?.(oldObject, newObject, info);
        }
        const update: HeldUpdate<ObjectOf<K>, U> = {
          oldObject,
          newObject,
          info,
          deliver: () => {
            if (waiting.get(name) !== update) return;
            waiting.delete(name);
            this.#release(name, update);
            if (this.#isOwn(kind, name, update.oldObject, update.newObject)) return;
            void this.#call(() => handler.onUpdate?.(update.oldObject, update.newObject, update.info));
          },
          timer: this.#clock.setTimer(() => update.deliver(), this.#maxHoldMs, { keepAlive: false }),
        };
        waiting.set(name, update);
        const all = this.#held.get(name) ?? new Set<Held>();
        this.#held.set(name, all.add(update));
        return undefined;
      },
    };
  }

  async #within<T extends object>(write: OwnStep, send: () => Promise<T>): Promise<T> {
    const name = objectName(write.kind, write.key);
    this.#windows.set(name, (this.#windows.get(name) ?? 0) + 1);
    try {
      const answer = await send();
      const isObject = 'metadata' in answer && typeof answer.metadata === 'object';
      if (isObject && write.from !== '') this.#links.add(name, { from: write.from, to: versionOf(asObject(answer)) });
      return answer;
    } finally {
      const open = (this.#windows.get(name) ?? 1) - 1;
      if (open > 0) this.#windows.set(name, open);
      else {
        this.#windows.delete(name);
        for (const held of [...(this.#held.get(name) ?? [])]) held.deliver();
      }
    }
  }

  #isOwn(kind: Kind, name: string, oldObject: object, newObject: object): boolean {
    const versions = { from: versionOf(asObject(oldObject)), to: versionOf(asObject(newObject)) };
    if (!this.#links.spans(name, versions)) return false;
    this.#suppressed(kind);
    return true;
  }

  #release(name: string, held: Held & { readonly timer: ClockTimer }): void {
    held.timer.cancel();
    const all = this.#held.get(name);
    all?.delete(held);
    if (all?.size === 0) this.#held.delete(name);
  }

  async #call(deliver: () => void | Promise<void>): Promise<void> {
    try {
      await deliver();
    } catch (error) {
      this.#logger.error('An event handler failed', { error });
    }
  }
}

interface HeldUpdate<T, U> extends Held {
  readonly oldObject: DeepReadonly<T>;
  newObject: DeepReadonly<T>;
  info: U;
  readonly timer: ClockTimer;
}

interface OwnStep {
  readonly kind: Kind;
  readonly key: ObjectKey;
  /** The version that the write insists on; '' where it does not. */
  readonly from: string;
}

function startOf(body: object): { readonly key: ObjectKey; readonly from: string } {
  const object = asObject(body);
  return 'metadata' in body && typeof body.metadata === 'object'
    ? { key: keyOf(object), from: versionOf(object) }
    : { key: { name: '' }, from: '' };
}

/** Every object type of a kind is a KubeObject; the compiler cannot see that through the conditional type. */
function asObject(object: object): DeepReadonly<KubeObject> {
  return object as DeepReadonly<KubeObject>;
}
