import { keyOf } from '@kctl/apimachinery';
import { asObject } from '../writes/as-object.js';
import type { DeepReadonly, Kind, ObjectKey, PersistedObject } from '@kctl/apimachinery';
import { intercept } from '@kctl/client';
import { requireKind } from '@kctl/client/internal';
import type { Client, SubResourceHooks } from '@kctl/client';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { Logger, Metrics } from '@kctl/telemetry';
import { clockOption, numberProblem, requireOptions } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { requireInformers, withoutOwnUpdates } from './own-informers.js';
import type { ObservableInformers } from './own-informers.js';
import { guardOf, objectName, OwnLinks } from './own-links.js';
import { versionOf } from '../writes/own-write.js';
import { UpdateGate } from './update-gate.js';
import type { GateParts, GateTraits, OwnWrites, Versions } from './update-gate.js';

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
  /** Logs the failures of handlers on updates that were held. @default none */
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<OwnEventsOptions> = {
  maxHoldMs: true,
  logger: loggerOption,
  metrics: metricsOption,
  clock: clockOption,
};

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
    handler: ObjectEventHandler<PersistedObject<K>, A, U, D>,
  ): ObjectEventHandler<PersistedObject<K>, A, U, D>;
  /**
   * The same for all handlers of informers, for a controller that is to sleep through its own writes:
   * `kindSource({ informers: own.wrapInformers(manager.cache), … })`. Nothing is decoded for it, and an informer that is on
   * loan is returned with the controller.
   */
  wrapInformers(informers: ObservableInformers): ObservableInformers;
}

/**
 * Returns a filter for own events, which is off unless a handler is wrapped, because only its owner can decide that its
 * own writes need no second look.
 *
 * An update is held back only if own writes alone, each guarded by the resourceVersion that it started from, lead from
 * the version that the handler saw last to the new one, because then it contains no foreign change. The events of
 * writes without such a guard (a plain merge patch, a forced apply), and of writes whose answer was lost, are
 * delivered.
 *
 * @throws TypeError when `maxHoldMs` is not a number ≥ 0
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createOwnEvents } from '@kctl/client-delegating';
 * import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
 *
 * const own = createOwnEvents();
 * const informer = createSharedInformer({ kind: ConfigMap, listerWatcher: listerWatcherFor(client, ConfigMap) });
 * informer.addEventHandler(own.wrapHandler(ConfigMap, { onUpdate: (_old, { metadata }) => console.log(metadata.name) }));
 * const writer = own.wrapClient(client); // its updates do not reach the handler
 * ```
 */
export function createOwnEvents(options: OwnEventsOptions = {}): OwnEvents {
  requireOptions('createOwnEvents', options, optionNames);
  const problem = numberProblem('maxHoldMs', options.maxHoldMs ?? 0);
  if (problem !== undefined) throw new TypeError(`createOwnEvents: ${problem}`);
  return new OwnEventFilter(options);
}

class OwnEventFilter implements OwnEvents, OwnWrites {
  readonly #links = new OwnLinks();
  readonly #suppressed: (kind: Kind) => void;
  /** How many writes of an object are under way. */
  readonly #windows = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #gateParts: GateParts;

  constructor(options: OwnEventsOptions) {
    const { maxHoldMs = 30_000, clock = systemClock } = options;
    const { logger, metrics } = guardSinks(options);
    const onFailure = (error: unknown, object: string): void => logger.error('event handler failed', { object, error });
    this.#gateParts = { writes: this, clock, maxHoldMs, onFailure };
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
      subResource: <K extends Kind, B extends object>(kind: K, name: string): SubResourceHooks<K, B> => {
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
    handler: ObjectEventHandler<PersistedObject<K>, A, U, D>,
  ): ObjectEventHandler<PersistedObject<K>, A, U, D> {
    requireKind('wrapHandler', kind);
    type Event = HandledEvent<PersistedObject<K>, A, U, D>;
    const call = (event: Event): unknown => {
      if (event.type === 'add') return handler.onAdd?.(event.object, event.info);
      if (event.type === 'delete') return handler.onDelete?.(event.object, event.info);
      return handler.onUpdate?.(event.oldObject, event.object, event.info);
    };
    const gate = new UpdateGate<Event>({ ...this.#gateParts, kind, call, traits: traitsOf(kind) });
    return {
      onAdd: (object, info) => gate.take({ type: 'add', object, info }),
      onUpdate: (oldObject, object, info) => gate.take({ type: 'update', oldObject, object, info }),
      onDelete: (object, info) => gate.take({ type: 'delete', object, info }),
    };
  }

  wrapInformers(informers: ObservableInformers): ObservableInformers {
    requireInformers('wrapInformers', informers);
    return withoutOwnUpdates(informers, this.#gateParts);
  }

  isWriting(object: string): boolean {
    return this.#windows.has(object);
  }

  isOwn(kind: Kind, object: string, versions: Versions): boolean {
    if (!this.#links.spans(object, versions)) return false;
    this.#suppressed(kind);
    return true;
  }

  onceWritten(object: string, callback: () => void): () => void {
    const waiting = this.#waiting.get(object) ?? new Set();
    this.#waiting.set(object, waiting.add(callback));
    return () => {
      waiting.delete(callback);
      if (waiting.size === 0 && this.#waiting.get(object) === waiting) this.#waiting.delete(object);
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
        for (const callback of [...(this.#waiting.get(name) ?? [])]) callback();
      }
    }
  }
}

/** One call of an {@link ObjectEventHandler}. */
type HandledEvent<T, A, U, D> =
  | { readonly type: 'add'; readonly object: DeepReadonly<T>; readonly info: A }
  | {
      readonly type: 'update';
      readonly oldObject: DeepReadonly<T>;
      readonly object: DeepReadonly<T>;
      readonly info: U;
    }
  | { readonly type: 'delete'; readonly object: DeepReadonly<T>; readonly info: D };

function traitsOf<T extends object, A, U extends { readonly isResync: boolean }, D>(
  kind: Kind,
): GateTraits<HandledEvent<T, A, U, D>> {
  return {
    keyOf: ({ object }) => objectName(kind, keyOf(asObject(object))),
    typeOf: ({ type }) => type,
    isResync: (event) => event.type === 'update' && event.info.isResync,
    versionsOf: (event) => ({
      from: event.type === 'update' ? versionOf(asObject(event.oldObject)) : '',
      to: versionOf(asObject(event.object)),
    }),
    mergeAdd: (add, { object }) => ({ ...add, object }),
    mergeUpdate: (first, latest) =>
      first.type === 'update' && latest.type === 'update' ? { ...latest, oldObject: first.oldObject } : latest,
  };
}

interface OwnStep {
  readonly kind: Kind;
  readonly key: ObjectKey;
  /** The version that the write requires; '' if it requires none. */
  readonly from: string;
}

function startOf(body: object): { readonly key: ObjectKey; readonly from: string } {
  const object = asObject(body);
  return 'metadata' in body && typeof body.metadata === 'object'
    ? { key: keyOf(object), from: versionOf(object) }
    : { key: { name: '' }, from: '' };
}
