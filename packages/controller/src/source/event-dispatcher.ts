import { Delivery } from '@kctl/delivery';
import { isThenable } from '@kctl/options';
import type { Turn } from '@kctl/delivery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import { headerOf } from '@kctl/apimachinery/internal/wire';
import { isHeaderSource } from '../event/object-event.js';
import type { ObjectEvent, ObjectEventType } from '../event/object-event.js';
import type { EnqueueOptions, EventHandler, HandlerContext, RequestQueue } from '../handler/event-handler.js';
import { ownRequestOf } from '../handler/own-request.js';
import type { Predicate } from '../predicate/predicate.js';
import { askPredicate } from '../predicate/predicate.js';
import { FailedEvents } from './failed-events.js';
import { nameOfEvent, objectEventTraits } from './object-event-traits.js';
import type { EnqueueCause, SourceContext, SourceQueue } from './source.js';

/**
 * How many events of one object wait unmerged. Each state may name a request that no other one names, and that request
 * must be notified when it is no longer named.
 */
const keep = 16;
/** So many calls that do not settle keep the start waiting; then something that all of them need does not answer. */
const hangsBeforeStart = 2;
/** From this many on a source that can wait should. */
const manyWaiting = 1000;

/** Event handling of one watch. */
export interface EventDispatcherOptions<T, R> {
  readonly source: string;
  readonly handler: EventHandler<T, R>;
  readonly predicates: readonly Predicate<T>[];
  /** Shared by all callers of the handler of the source, including a replay and a later run. */
  readonly turn: Turn;
  /** For how many objects the handler may run at the same time. @default 1 */
  readonly handlerConcurrency?: number | undefined;
  readonly context: SourceContext<R>;
  /** Identity of an event's object. @default namespace and name of a Kubernetes object, nothing for anything else */
  readonly identify?: (event: ObjectEvent<T>) => string | undefined;
}

/**
 * Runs predicates and handler for the events of one watch, in order, one call at a time. A handler that fails, or does
 * not settle, is reported with its object, its event counts as delivered, and it is tried again behind the others.
 */
export class EventDispatcher<T, R> {
  readonly #options: EventDispatcherOptions<T, R>;
  readonly #context: HandlerContext;
  readonly #identify: (event: ObjectEvent<T>) => string | undefined;
  readonly #failed: FailedEvents<T>;
  readonly #delivery: Delivery<ObjectEvent<T>>;
  /** Called for each call that has not settled in time. */
  readonly #hangListeners = new Set<() => void>();

  constructor(options: EventDispatcherOptions<T, R>) {
    const { context, source, identify = nameOfEvent, turn, handlerConcurrency = 1 } = options;
    const { signal, logger, clock, random } = context;
    this.#options = options;
    this.#context = { signal, logger };
    this.#identify = (event) => {
      try {
        return identify(event);
      } catch {
        return undefined; // an object that cannot be read has no name
      }
    };
    const traits = objectEventTraits(this.#identify);
    const deliver = (event: ObjectEvent<T>): void => this.#delivery.offer(event);
    this.#failed = new FailedEvents({ traits, keep, logger, clock, random, deliver });
    this.#delivery = new Delivery({
      call: (event) => this.#call(event),
      onFailure: ({ event, error, hasSettled }) => {
        if (hasSettled) this.#failed.failed(event, error);
        else this.#hung(event, error);
      },
      traits,
      clock,
      name: `handler of ${source}`,
      turn,
      lanes: handlerConcurrency,
      keep,
    });
    signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Never throws. */
  dispatch(event: ObjectEvent<T>): void {
    if (this.#context.signal.aborted || !this.#passes(event)) return;
    this.#delivery.offer(event);
  }

  /** The object is no longer in the watched namespaces, which is not an event. */
  left(header: ObjectHeader): void {
    const { handler, context } = this.#options;
    const request = ownRequestOf(handler, header);
    if (request !== undefined && !context.signal.aborted) context.queue.left?.(request);
  }

  /** Resolves when every event that was dispatched before the call is handled, or failed once. */
  async idle(): Promise<void> {
    await this.#delivery.caughtUp();
  }

  /**
   * Resolves when the events dispatched before the call are handled, or failed once, as far as the start of a
   * controller is to wait for it. Events behind {@link hangsBeforeStart} calls that did not settle are handled later.
   */
  async delivered(): Promise<void> {
    let hangs = 0;
    const gaveUp = Promise.withResolvers<undefined>();
    const onHang = (): void => {
      if (++hangs === hangsBeforeStart) gaveUp.resolve(undefined);
    };
    this.#hangListeners.add(onHang);
    await Promise.race([this.idle(), gaveUp.promise]);
    this.#hangListeners.delete(onHang);
  }

  /**
   * Resolves when few enough events wait; undefined if that is already the case. A source that can wait is bounded by
   * it.
   */
  room(): Promise<void> | undefined {
    return this.#delivery.pending < manyWaiting ? undefined : this.idle();
  }

  #end(): void {
    this.#delivery.end();
    this.#failed.clear();
  }

  #hung(event: ObjectEvent<T>, error: unknown): void {
    this.#failed.hung(event, error);
    for (const onHang of this.#hangListeners) onHang();
  }

  #call(event: ObjectEvent<T>): unknown {
    if (this.#failed.holds(event)) return undefined;
    const { source, handler, context } = this.#options;
    const queue = new EventQueue(context.queue, source, event, this.#identify(event));
    const result: unknown = handler(event, queue, this.#context);
    if (!isThenable(result)) {
      this.#failed.handled(event);
      return undefined;
    }
    return Promise.resolve(result).then(() => this.#failed.handled(event));
  }

  /** A predicate that throws lets the event pass, because a needless reconcile is cheaper than a missed one. */
  #passes(event: ObjectEvent<T>): boolean {
    try {
      for (const predicate of this.#options.predicates) if (!askPredicate(predicate, event)) return false;
    } catch (error) {
      this.#context.logger.error('predicate failed, the event passes', { object: this.#identify(event) ?? '', error });
    }
    return true;
  }
}

/** The queue as seen by the handler of one event; each request carries its event. */
class EventQueue<R> implements RequestQueue<R>, EnqueueCause {
  readonly #queue: SourceQueue<R>;
  readonly #event: ObjectEvent<unknown>;
  readonly #reason: string;
  readonly source: string;
  readonly name: string | undefined;

  // Created for every event, observed or not, so it consists of fields without an object that holds them.
  constructor(queue: SourceQueue<R>, source: string, event: ObjectEvent<unknown>, name: string | undefined) {
    this.#queue = queue;
    this.#event = event;
    this.source = source;
    this.name = name;
    this.#reason = `${source} ${event.type} ${name ?? ''}`;
  }

  get type(): ObjectEventType {
    return this.#event.type;
  }

  get header(): ObjectHeader | undefined {
    const { header, object } = this.#event;
    if (header !== undefined) return header;
    return isHeaderSource(object) ? headerOf(object) : undefined;
  }

  add(request: R, options?: EnqueueOptions): void {
    this.#queue.add(request, { ...options, reason: this.#reason, cause: this });
  }
}
