import type { ObjectHeader } from '@kctl/apimachinery/wire';
import { eventFrom } from '../event/informer-event.js';
import type { EventHandler } from '../handler/event-handler.js';
import type { Predicate } from '../predicate/predicate.js';
import { EventDispatcher } from './event-dispatcher.js';
import type { EventInformer, InformerEventHandler, InformerRegistration } from './informer-provider.js';
import type { Source, StartedSource } from './source.js';

/** Options of {@link informerSource}. */
export interface InformerSourceOptions<T, R> {
  readonly informer: EventInformer<T>;
  readonly handler: EventHandler<T, R>;
  /** All must agree; asked in order. @default none */
  readonly predicates?: readonly Predicate<T>[];
  /** @default 'informer source' */
  readonly name?: string;
}

/** Events of an informer that somebody else runs. Mirrors `source.Informer`. */
export function informerSource<T, R>(options: InformerSourceOptions<T, R>): Source<R> {
  const { informer, handler, predicates = [], name = 'informer source' } = options;
  return {
    name,
    start: (context): Promise<StartedSource> => {
      const dispatcher = new EventDispatcher({ source: name, handler, predicates, context });
      const registration = informer.addEventHandler(forward(dispatcher));
      return Promise.resolve({
        waitForSync: (signal) => waitForHandler(registration, dispatcher, signal),
        stop: () => registration.remove(),
      });
    },
  };
}

/**
 * The informer's events as ours. An object that merely left the watched namespaces was not deleted: reconciling it
 * would find nothing in the cache, and could clean up after an object that is alive. Only `onLeave` hears of it.
 */
export function forward<T, R>(
  dispatcher: EventDispatcher<T, R>,
  onLeave?: (header: ObjectHeader) => void,
): InformerEventHandler<T> {
  return {
    onEvent: (event) => {
      if (event.leftScope === true) onLeave?.(event.header);
      else dispatcher.dispatch(eventFrom(event));
    },
  };
}

/** Waits until the initial list was delivered and its handlers, some of which may wait themselves, are done. */
export async function waitForHandler<T, R>(
  registration: InformerRegistration,
  dispatcher: EventDispatcher<T, R>,
  signal: AbortSignal,
): Promise<void> {
  await registration.waitForSync({ signal });
  await dispatcher.idle();
}
