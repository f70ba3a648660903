import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { isSameJson } from '@kctl/apimachinery';
import { waitForEvent } from '@kctl/client';
import { slicerOf } from '@kctl/wait/internal';
import type { EventCondition, WaitForEventOptions } from '@kctl/client';
import { clockOption, numberProblem, optionWithMethods, requireOptions, signalOption, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { anySignal, systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import type { EventHandlerOptions, InformerEvent } from '../handlers/event.js';
import { filterAnswer } from '../handlers/filter-answer.js';
import { requireHandlerOptions } from '../handlers/handler-options.js';
import type { SharedInformer } from '../informer.js';
import { hasMethods, requireThat } from '../required.js';
import { debounced } from './debounce.js';
import { readEvents, ReaderIterator } from './reader.js';
import type { Reading } from './reader.js';

/** Options of {@link createEventStream}. */
export interface EventStreamOptions<T extends KubeObject>
  extends Pick<EventHandlerOptions<T>, 'delivery' | 'resyncMs' | 'after' | 'name' | 'filters'> {
  /** Ends the loops over the stream. */
  readonly signal?: AbortSignal;
  /** For `debounce` and `waitForEvent`. @default systemClock */
  readonly clock?: Clock;
}

/**
 * Events of an informer, for `for await`. Each loop is a reader with a separate place among the informer's handlers. It
 * begins with the existing objects, and holds up neither the informer nor another reader. While it is busy, changes
 * merge per object (with `delivery: 'every'` they all wait). A loop ends with the informer, after the waiting events
 * were read, or at once with the signal; leaving it releases everything.
 *
 * Operators make another stream, over which each loop has separate state. The loop throws the errors of a function
 * given to an operator. Mirrors kube-rs' `WatchStreamExt`, with an informer in place of `reflect_shared`.
 */
export interface EventStream<T extends KubeObject> extends AsyncIterable<InformerEvent<T>> {
  filter(accepts: (event: InformerEvent<T>) => boolean): EventStream<T>;
  map<U>(change: (event: InformerEvent<T>) => U): AsyncIterable<Awaited<U>>;
  /**
   * Leaves out updates by which the projection (JSON) does not differ from the last event of the object that was read,
   * resyncs among them. Holds one projection for each object that exists. Mirrors `predicate_filter`.
   */
  changedBy(project: (object: DeepReadonly<T>) => unknown): EventStream<T>;
  /**
   * Holds back changes to an object until it has been unchanged for the given ms, then passes them on as one event
   * (nothing for an object that came and went, a delete and an add for one that was replaced).
   *
   * @throws TypeError when it is not a number of ms
   */
  debounce(quietMs: number): EventStream<T>;
  /** The objects that were added or changed. Mirrors `applied_objects`. */
  appliedObjects(): AsyncIterable<DeepReadonly<T>>;
  /** The objects that were added, changed or deleted, without what happened to them. Mirrors `touched_objects`. */
  touchedObjects(): AsyncIterable<DeepReadonly<T>>;
  /**
   * Reads, from the objects that are there on, until the conditions have held one after the other; returns the event of
   * the last one. See `waitForEvent` of `@kctl/client`.
   *
   * @throws WatchClosedError when the informer ends before; DeadlineExceededError after `timeoutMs`; the signal's reason
   *   on abort; what a condition throws
   */
  waitForEvent(
    until: EventCondition<InformerEvent<T>> | readonly EventCondition<InformerEvent<T>>[],
    options?: Omit<WaitForEventOptions, 'clock'>,
  ): Promise<InformerEvent<T>>;
}

const optionNames: OptionNames<EventStreamOptions<never>> = {
  delivery: true,
  resyncMs: true,
  after: optionWithMethods(['then'], 'a promise'),
  name: textOption,
  filters: true,
  signal: signalOption,
  clock: clockOption,
};

/**
 * The events of an informer as an async iterable with operators. It does nothing before it is read.
 *
 * @throws TypeError naming the option that is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createEventStream, createSharedInformer, listerWatcherFor } from '@kctl/informer';
 *
 * const informer = createSharedInformer({ kind: Pod, listerWatcher: listerWatcherFor(client, Pod) });
 * void informer.run(signal);
 * const phases = createEventStream(informer, { signal }).changedBy(({ status }) => status?.phase);
 * for await (const { type, key, object } of phases) console.log(type, key, object.status?.phase);
 * ```
 */
export function createEventStream<T extends KubeObject>(
  informer: Pick<SharedInformer<T>, 'addEventHandler'>,
  options: EventStreamOptions<T> = {},
): EventStream<T> {
  requireOptions('createEventStream', options, optionNames);
  requireThat(hasMethods(informer, ['addEventHandler']), 'createEventStream: informer', {
    value: informer,
    expected: 'an informer, such as createSharedInformer(…)',
  });
  const { signal, clock = systemClock, ...handlerOptions } = options;
  requireHandlerOptions(handlerOptions);
  return new Stream<T>((reading) => readEvents(informer, handlerOptions, reading), { signal, clock });
}

type Events<E> = AsyncGenerator<E, void>;
type Open<E> = (reading: Reading) => Events<E>;

interface StreamSettings {
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

class Stream<T extends KubeObject> implements EventStream<T> {
  readonly #open: Open<InformerEvent<T>>;
  readonly #settings: StreamSettings;

  constructor(open: Open<InformerEvent<T>>, settings: StreamSettings) {
    this.#open = open;
    this.#settings = settings;
  }

  [Symbol.asyncIterator](): AsyncIterator<InformerEvent<T>, undefined> {
    return this.#read(this.#open);
  }

  filter(accepts: (event: InformerEvent<T>) => boolean): EventStream<T> {
    requireCallback('filter: accepts', accepts);
    return this.#through(async function* (events) {
      for await (const event of events) if (filterAnswer('filter: accepts', accepts(event))) yield event;
    });
  }

  map<U>(change: (event: InformerEvent<T>) => U): AsyncIterable<Awaited<U>> {
    requireCallback('map: change', change);
    const open: Open<Awaited<U>> = async function* (this: Stream<T>, reading: Reading) {
      for await (const event of this.#open(reading)) yield await change(event);
    }.bind(this);
    return { [Symbol.asyncIterator]: () => this.#read(open) };
  }

  changedBy(project: (object: DeepReadonly<T>) => unknown): EventStream<T> {
    requireCallback('changedBy: project', project);
    return this.#through(async function* (events, { onGone }) {
      const last = new Map<string, unknown>();
      const forget = (key: string): void => void last.delete(key);
      onGone.add(forget);
      for await (const event of events) {
        const { type, key } = event;
        if (type !== 'delete') {
          const projection = project(event.object);
          if (type === 'update' && last.has(key) && isSameJson(last.get(key), projection)) continue;
          last.set(key, projection);
        }
        yield event;
      }
    });
  }

  debounce(quietMs: number): EventStream<T> {
    const problem = numberProblem('quietMs', quietMs);
    if (problem !== undefined) throw new TypeError(`debounce: ${problem}`);
    const { clock } = this.#settings;
    return this.#through((events, { signal }) => debounced(events, { quietMs, clock, signal }));
  }

  appliedObjects(): AsyncIterable<DeepReadonly<T>> {
    return this.filter(({ type }) => type !== 'delete').touchedObjects();
  }

  touchedObjects(): AsyncIterable<DeepReadonly<T>> {
    const open: Open<DeepReadonly<T>> = async function* (this: Stream<T>, reading: Reading) {
      for await (const { object } of this.#open(reading)) yield object;
    }.bind(this);
    return { [Symbol.asyncIterator]: () => this.#read(open) };
  }

  async waitForEvent(
    until: EventCondition<InformerEvent<T>> | readonly EventCondition<InformerEvent<T>>[],
    options: Omit<WaitForEventOptions, 'clock'> = {},
  ): Promise<InformerEvent<T>> {
    const { clock, signal } = this.#settings;
    // The stream's own signal would end the loop without a reason.
    using link = anySignal([options.signal, signal]);
    return await waitForEvent(this, until, { ...options, clock, signal: link.signal });
  }

  #through(change: (events: Events<InformerEvent<T>>, reading: Reading) => Events<InformerEvent<T>>): EventStream<T> {
    return new Stream<T>((reading) => change(this.#open(reading), reading), this.#settings);
  }

  #read<E>(open: Open<E>): ReaderIterator<E> {
    const { signal, clock } = this.#settings;
    const link = anySignal([signal]);
    return new ReaderIterator(open({ signal: link.signal, onGone: new Set(), slicer: slicerOf(clock) }), link);
  }
}

/** At the call, and not when the stream is read somewhere else. */
function requireCallback(field: string, callback: unknown): void {
  requireThat(typeof callback === 'function', field, { value: callback, expected: 'a function' });
}
