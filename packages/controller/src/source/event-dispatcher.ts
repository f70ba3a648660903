import type { DeliveryOptions } from '@kctl/delivery';
import { Delivery, isThenable } from '@kctl/delivery';
import type { ObjectEvent } from '../event/object-event.js';
import type { EnqueueOptions, EventHandler, HandlerContext, RequestQueue } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import { askPredicate } from '../predicate/predicate.js';
import { FailedEvents } from './failed-events.js';
import { nameOfEvent, objectEventTraits } from './object-event-traits.js';
import type { SourceContext, SourceQueue } from './source.js';

/** How many objects may have a handler that waits, for a look-up perhaps. */
const lanes = 16;
/**
 * How many events of one object wait unmerged: each state may name a request that no other one names, and that request
 * must learn that it is named no longer.
 */
const keep = 16;
/** From this many on a source that can wait should. */
const manyWaiting = 1000;

/** What one watch does with its events. */
export interface EventDispatcherOptions<T, R> {
  readonly source: string;
  readonly handler: EventHandler<T, R>;
  readonly predicates: readonly Predicate<T>[];
  readonly context: SourceContext<R>;
  /** Identity of an event's object. @default namespace and name of a Kubernetes object, nothing for anything else */
  readonly identify?: (event: ObjectEvent<T>) => string | undefined;
}

/**
 * Runs predicates and handler for the events of one watch: in order per object, a handler that answers at once without a
 * promise. A handler that fails, or does not settle, is reported with its object, its event counts as delivered, and is
 * tried again beside the others.
 */
export class EventDispatcher<T, R> {
  readonly #options: EventDispatcherOptions<T, R>;
  readonly #context: HandlerContext;
  readonly #identify: (event: ObjectEvent<T>) => string | undefined;
  readonly #failed: FailedEvents<T>;
  readonly #named: Delivery<ObjectEvent<T>>;
  /** Events without identity: in the order in which they came. */
  readonly #unnamed: Delivery<ObjectEvent<T>>;

  constructor(options: EventDispatcherOptions<T, R>) {
    const { context, source, identify = nameOfEvent } = options;
    const { signal, logger, clock, random } = context;
    this.#options = options;
    this.#context = { signal, logger };
    this.#identify = identify;
    const traits = objectEventTraits(identify);
    const deliver = (event: ObjectEvent<T>): void => this.#deliver(event);
    this.#failed = new FailedEvents({ traits, keep, logger, clock, random, deliver });
    const common: DeliveryOptions<ObjectEvent<T>> = {
      call: (event) => this.#call(event),
      onFailure: ({ event, error }) => this.#failed.failed(event, error),
      traits,
      clock,
      name: `handler of ${source}`,
    };
    this.#named = new Delivery({ ...common, lanes, keep });
    this.#unnamed = new Delivery(common);
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Never throws. */
  dispatch(event: ObjectEvent<T>): void {
    if (this.#context.signal.aborted || !this.#passes(event)) return;
    this.#deliver(event);
  }

  /** Resolves when every event that was dispatched before the call is handled, or failed once. */
  async idle(): Promise<void> {
    await Promise.all([this.#named.caughtUp(), this.#unnamed.caughtUp()]);
  }

  /** Resolves when few enough events wait; undefined where that is so. A source that can wait is bounded by it. */
  room(): Promise<void> | undefined {
    return this.#named.pending + this.#unnamed.pending < manyWaiting ? undefined : this.idle();
  }

  #deliver(event: ObjectEvent<T>): void {
    const isNamed = event.header !== undefined || this.#identify(event) !== undefined;
    (isNamed ? this.#named : this.#unnamed).offer(event);
  }

  #end(): void {
    this.#named.end();
    this.#unnamed.end();
    this.#failed.clear();
  }

  #call(event: ObjectEvent<T>): unknown {
    if (this.#failed.holds(event)) return undefined;
    const { source, handler, context } = this.#options;
    const reason = `${source} ${event.type} ${this.#identify(event) ?? ''}`;
    const queue = new ReasonedQueue(context.queue, reason);
    const result: unknown = handler(event, queue, this.#context);
    if (!isThenable(result)) {
      this.#failed.handled(event);
      return undefined;
    }
    return Promise.resolve(result).then(() => this.#failed.handled(event));
  }

  /** A predicate that throws lets the event pass: a needless reconcile is cheaper than a missed one. */
  #passes(event: ObjectEvent<T>): boolean {
    try {
      for (const predicate of this.#options.predicates) if (!askPredicate(predicate, event)) return false;
    } catch (error) {
      this.#context.logger.error('predicate failed, the event passes', { object: this.#identify(event) ?? '', error });
    }
    return true;
  }
}

class ReasonedQueue<R> implements RequestQueue<R> {
  readonly #queue: SourceQueue<R>;
  readonly #reason: string;

  constructor(queue: SourceQueue<R>, reason: string) {
    this.#queue = queue;
    this.#reason = reason;
  }

  add(request: R, options?: EnqueueOptions): void {
    this.#queue.add(request, { ...options, reason: this.#reason });
  }
}
