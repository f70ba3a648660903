import { Turn } from '@kctl/delivery';
import type { OptionNames } from '@kctl/options';
import { requireOptions, textOption } from '@kctl/options';
import type { EventHandler } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import { EventDispatcher } from './event-dispatcher.js';
import { requireHandler, requirePredicates } from '../event/required.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** Options of {@link channelSource}. */
export interface ChannelSourceOptions<T, R> {
  readonly name: string;
  /**
   * Source of generic events, such as an `EventChannel`, a stream, or any async iterable. Read once, from the first
   * start on; after a failure once more, from the next start on.
   */
  readonly events: AsyncIterable<T>;
  readonly handler: EventHandler<T, R>;
  /** All must agree; called in order. @default none */
  readonly predicates?: readonly Predicate<T>[];
}

const optionNames: OptionNames<ChannelSourceOptions<never, never>> = {
  name: textOption,
  events: true,
  handler: true,
  predicates: true,
};

interface Subscriber<T> {
  /** Resolves when there is room for more; undefined if there is. */
  readonly deliver: (object: T) => Promise<void> | undefined;
  readonly fail: (error: unknown) => void;
}

/**
 * Generic events of an async iterable. Several starts share the one reader, and each gets every object from its start
 * on. When the iterable ends, so does the source; when it throws, the controllers fail, and the next start reads it
 * anew. If it cannot be read anew (a generator, a stream), that start fails, too, so it never starts dead. Mirrors
 * `source.Channel`.
 *
 * @throws TypeError when there is no async iterable or handler
 *
 * @example
 * ```ts
 * import { channelSource, createEventChannel, handlerFuncs } from '@kctl/controller';
 *
 * const orders = createEventChannel<{ shop: string }>();
 * const source = channelSource({
 *   name: 'orders',
 *   events: orders,
 *   handler: handlerFuncs<{ shop: string }, { name: string }>({ generic: ({ object }, queue) => queue.add({ name: object.shop }) }),
 * });
 * orders.send({ shop: 'tea' });
 * ```
 */
export function channelSource<T, R>(options: ChannelSourceOptions<T, R>): Source<R> {
  requireOptions('channelSource', options, optionNames);
  const { events, handler, predicates = [] } = options;
  const what = `channelSource ${options.name}`;
  if (typeof events?.[Symbol.asyncIterator] !== 'function')
    throw new TypeError(`${what}: events is not valid: expected an async iterable, such as createEventChannel()`);
  requireHandler(what, handler);
  requirePredicates(what, predicates);
  const name = `channel source: ${options.name}`;
  const turn = new Turn();
  const reader = new SharedReader(events);
  return {
    name,
    start: (context: SourceContext<R>): Promise<StartedSource> => {
      const dispatcher = new EventDispatcher({ source: name, handler, predicates, turn, context });
      const unsubscribe = reader.subscribe({
        deliver: (object) => {
          dispatcher.dispatch({ type: 'generic', object });
          return dispatcher.room();
        },
        fail: context.fail,
      });
      return Promise.resolve({ stop: unsubscribe });
    },
  };
}

/** Reads an iterable once for all subscribers; objects read while there are no subscribers wait for the next one. */
class SharedReader<T> {
  readonly #events: AsyncIterable<T>;
  readonly #subscribers = new Set<Subscriber<T>>();
  #iterator: AsyncIterator<T> | undefined;
  #arrived = Promise.withResolvers<undefined>();
  /** The failure of the iterator that was read last. */
  #failure: { readonly iterator: AsyncIterator<T>; readonly error: unknown } | undefined;

  constructor(events: AsyncIterable<T>) {
    this.#events = events;
  }

  /** @throws Error when the iterable has failed and cannot be read anew */
  subscribe(subscriber: Subscriber<T>): () => void {
    // Before the first read, because an iterator may throw in its call of next().
    this.#subscribers.add(subscriber);
    const unsubscribe = (): void => {
      this.#subscribers.delete(subscriber);
      this.#arrived = Promise.withResolvers(); // for a read that finds no subscriber
    };
    try {
      if (this.#iterator === undefined) this.#open();
    } catch (error) {
      unsubscribe();
      throw error;
    }
    this.#arrived.resolve(undefined);
    return unsubscribe;
  }

  #open(): void {
    const iterator = requireIterator(this.#events[Symbol.asyncIterator]());
    if (this.#failure?.iterator === iterator)
      throw new Error(
        'the iterable failed in an earlier run and cannot be read anew: give one whose [Symbol.asyncIterator]() makes a new iterator, such as createEventChannel()',
        { cause: this.#failure.error },
      );
    this.#failure = undefined;
    this.#iterator = iterator;
    void this.#read(iterator);
  }

  /** Never rejects. */
  async #read(iterator: AsyncIterator<T>): Promise<void> {
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        // Between two runs of the controllers there is no subscriber, so objects read are kept for the next one.
        while (this.#subscribers.size === 0) await this.#arrived.promise;
        const full = [...this.#subscribers]
          .map(({ deliver }) => deliver(next.value))
          .filter((room) => room !== undefined);
        if (full.length > 0) await Promise.all(full);
      }
    } catch (error) {
      this.#iterator = undefined;
      this.#failure = { iterator, error };
      for (const { fail } of this.#subscribers) fail(error ?? new Error('the iterable failed without a reason'));
    }
  }
}

/** @throws TypeError if `[Symbol.asyncIterator]()` has not returned an iterator */
function requireIterator<T>(iterator: AsyncIterator<T>): AsyncIterator<T> {
  const given: unknown = iterator;
  if (typeof given === 'object' && given !== null && typeof iterator.next === 'function') return iterator;
  throw new TypeError('events is not valid: its [Symbol.asyncIterator]() does not return an iterator with next()');
}
