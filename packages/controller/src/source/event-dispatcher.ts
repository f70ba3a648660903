import { formatKey } from '@kctl/apimachinery';
import type { Logger } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { sleep } from '@kctl/wait';
import type { ObjectEvent } from '../event/object-event.js';
import type { EnqueueOptions, EventHandler, HandlerContext, RequestQueue } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import type { SourceContext, SourceQueue } from './source.js';

const firstRetryMs = 100;
const maxRetryMs = 30_000;
const longLane = 100;

/** What one watch does with its events. */
export interface EventDispatcherOptions<T, R> {
  readonly source: string;
  readonly handler: EventHandler<T, R>;
  readonly predicates: readonly Predicate<T>[];
  readonly context: SourceContext<R>;
}

/**
 * Runs predicates and handler for the events of one watch. A handler that answers at once costs no promise. One that
 * waits or fails holds back the later events of its own object only (in order, nothing merged: an intermediate state
 * may have named a request that neither the first nor the last one names), and is repeated until it succeeds.
 */
export class EventDispatcher<T, R> {
  readonly #options: EventDispatcherOptions<T, R>;
  readonly #context: HandlerContext;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  /** Events that wait behind an unfinished one, by object. */
  readonly #lanes = new Map<string, ObjectEvent<T>[]>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: EventDispatcherOptions<T, R>) {
    const { signal, logger, clock, random } = options.context;
    this.#options = options;
    this.#logger = logger;
    this.#clock = clock;
    this.#random = random;
    this.#context = { signal, logger };
  }

  /** Never throws. */
  dispatch(event: ObjectEvent<T>): void {
    if (this.#context.signal.aborted || !this.#passes(event)) return;
    const object = identify(event);
    const lane = this.#lanes.size === 0 ? undefined : this.#lanes.get(object);
    if (lane !== undefined) {
      lane.push(event);
      if (lane.length % longLane === 0)
        this.#logger.warn('events of one object wait for its handler', { object, waiting: lane.length });
      return;
    }
    let pending: Promise<void> | undefined;
    try {
      pending = this.#handle(event, object);
    } catch (error) {
      pending = this.#retry(event, object, error);
    }
    if (pending !== undefined) this.#openLane(object, event, pending);
  }

  /** Resolves when every event that was dispatched before the call is handled. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #openLane(object: string, event: ObjectEvent<T>, first: Promise<void>): void {
    this.#lanes.set(object, []);
    const done = this.#runLane(object, event, first).finally(() => {
      this.#lanes.delete(object);
      this.#running.delete(done);
    });
    this.#running.add(done);
  }

  async #runLane(object: string, firstEvent: ObjectEvent<T>, firstResult: Promise<void>): Promise<void> {
    let event: ObjectEvent<T> | undefined = firstEvent;
    let result: Promise<void> | undefined = firstResult;
    while (event !== undefined) {
      try {
        await result;
      } catch (error) {
        await this.#retry(event, object, error);
      }
      if (this.#context.signal.aborted) return;
      event = this.#lanes.get(object)?.shift();
      if (event === undefined) return;
      const next = event;
      result = Promise.resolve().then(() => this.#handle(next, object));
    }
  }

  async #retry(event: ObjectEvent<T>, object: string, firstError: unknown): Promise<void> {
    let error = firstError;
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, maxRetryMs)) {
      if (this.#context.signal.aborted) return;
      this.#logger.error('event handler failed, will be called again', { object, error, retryInMs: delay });
      try {
        await sleep(delay * (0.9 + 0.2 * this.#random()), { clock: this.#clock, signal: this.#context.signal });
      } catch {
        return; // the watch ends; nobody waits for this event any more
      }
      try {
        await this.#handle(event, object);
        return;
      } catch (later) {
        error = later;
      }
    }
  }

  #handle(event: ObjectEvent<T>, object: string): Promise<void> | undefined {
    const reason = `${this.#options.source} ${event.type} ${object}`;
    return this.#options.handler(event, new ReasonedQueue(this.#options.context.queue, reason), this.#context);
  }

  /** A predicate that throws lets the event pass: a needless reconcile is cheaper than a missed one. */
  #passes(event: ObjectEvent<T>): boolean {
    try {
      for (const predicate of this.#options.predicates) if (!predicate(event)) return false;
    } catch (error) {
      this.#logger.error('predicate failed, the event passes', { object: identify(event), error });
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

/** `namespace/name` of a Kubernetes object; '' for anything else, whose events then share one lane. */
function identify<T>(event: ObjectEvent<T>): string {
  const { header } = event;
  if (header !== undefined) return header.namespace === '' ? header.name : `${header.namespace}/${header.name}`;
  const { object } = event;
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return '';
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || !('name' in metadata)) return '';
  const { name } = metadata;
  if (typeof name !== 'string') return '';
  const namespace = 'namespace' in metadata && typeof metadata.namespace === 'string' ? metadata.namespace : '';
  return formatKey({ namespace, name });
}
