import type { EventHandler } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import { EventDispatcher } from './event-dispatcher.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** Options of {@link channelSource}. */
export interface ChannelSourceOptions<T, R> {
  readonly name: string;
  /** Objects that something happened to: an `EventChannel`, a stream, any async iterable. Read once, from the first start on. */
  readonly events: AsyncIterable<T>;
  readonly handler: EventHandler<T, R>;
  /** All must agree; asked in order. @default none */
  readonly predicates?: readonly Predicate<T>[];
}

interface Subscriber<T> {
  readonly deliver: (object: T) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Generic events of an async iterable. Several starts share the one reader, and each gets every object from its start
 * on. When the iterable ends, so does the source; when it throws, the controllers fail. Mirrors `source.Channel`.
 */
export function channelSource<T, R>(options: ChannelSourceOptions<T, R>): Source<R> {
  const { events, handler, predicates = [] } = options;
  const name = `channel source: ${options.name}`;
  const subscribers = new Set<Subscriber<T>>();
  let reading: AsyncIterator<T> | undefined;
  let arrived = Promise.withResolvers<undefined>();

  const read = async (iterator: AsyncIterator<T>): Promise<void> => {
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        // Between two runs of the controllers nobody listens: what was read is kept for the next one.
        while (subscribers.size === 0) await arrived.promise;
        for (const { deliver } of subscribers) deliver(next.value);
      }
    } catch (error) {
      for (const { fail } of subscribers) fail(error);
    }
  };
  return {
    name,
    start: (context: SourceContext<R>): Promise<StartedSource> => {
      const dispatcher = new EventDispatcher({ source: name, handler, predicates, context });
      const subscriber: Subscriber<T> = {
        deliver: (object) => dispatcher.dispatch({ type: 'generic', object }),
        fail: context.fail,
      };
      subscribers.add(subscriber);
      arrived.resolve(undefined);
      if (reading === undefined) {
        reading = events[Symbol.asyncIterator]();
        void read(reading);
      }
      return Promise.resolve({
        stop: () => {
          subscribers.delete(subscriber);
          if (subscribers.size === 0) arrived = Promise.withResolvers();
        },
      });
    },
  };
}
