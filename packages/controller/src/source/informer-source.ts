import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import { Turn } from '@kctl/delivery';
import type { OptionNames } from '@kctl/options';
import { requireOptions, textOption } from '@kctl/options';
import { orAborted } from '@kctl/wait';
import { eventFrom } from './informer-event.js';
import type { EventHandler } from '../handler/event-handler.js';
import { createGenerationCheck } from '../predicate/generation.js';
import type { Predicate } from '../predicate/predicate.js';
import { EventDispatcher } from './event-dispatcher.js';
import type { EventInformer, InformerEventHandler, InformerRegistration } from './informer-provider.js';
import { replayContext } from './replay-context.js';
import { requireHandler, requirePredicates, requireRegistration } from '../event/required.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** Options of {@link informerSource}. */
export interface InformerSourceOptions<T, R> {
  readonly informer: EventInformer<T>;
  readonly handler: EventHandler<T, R>;
  /** All must agree; called in order. @default none */
  readonly predicates?: readonly Predicate<T>[];
  /**
   * Maximum number of objects for which the handler runs at the same time, if it waits for look-ups. An integer ≥ 1.
   * Events of one object stay in order; with more than 1, those of different objects overtake one another.
   *
   * @default 1
   */
  readonly handlerConcurrency?: number | undefined;
  /** @default 'informer source' */
  readonly name?: string;
}

const optionNames: OptionNames<InformerSourceOptions<never, never>> = {
  informer: true,
  handler: true,
  predicates: true,
  handlerConcurrency: true,
  name: textOption,
};

/**
 * Events of an informer that is run elsewhere. Mirrors `source.Informer`.
 *
 * @throws TypeError when there is no informer or handler
 */
export function informerSource<T, R>(options: InformerSourceOptions<T, R>): Source<R> {
  requireOptions('informerSource', options, optionNames);
  const { informer, handler, predicates = [], handlerConcurrency, name = 'informer source' } = options;
  if (typeof informer?.addEventHandler !== 'function')
    throw new TypeError(`${name}: informer is not valid: expected an informer, such as cache.informerFor(kind)`);
  requireHandler(name, handler, handlerConcurrency);
  requirePredicates(name, predicates);
  const turn = new Turn();
  return {
    name,
    start: async (context): Promise<StartedSource> => {
      const newDispatcher = (to: SourceContext<R>): EventDispatcher<T, R> =>
        new EventDispatcher({ source: name, handler, predicates, turn, handlerConcurrency, context: to });
      const dispatcher = newDispatcher(context);
      const check = createGenerationCheck({ predicates, kind: undefined, logger: context.logger });
      const registration = informer.addEventHandler(forward(dispatcher, { check }));
      requireRegistration(registration);
      let replaying: EventDispatcher<T, R> | undefined;
      let replayed: Promise<void> | undefined;
      return await Promise.resolve({
        waitForSync: (signal) => waitForHandler(registration, dispatcher, signal),
        replay: () => {
          replaying ??= newDispatcher(replayContext(context));
          return (replayed = replayInformer(informer, replaying, context.signal));
        },
        stop: async () => {
          await registration.remove();
          await replayed?.catch(() => undefined); // its handler goes with it
        },
      });
    },
  };
}

/**
 * Converts the informer's events. An object that merely left the watched namespaces was not deleted. Reconciling it
 * would find nothing in the cache, and could clean up after a live object, so the handler is not called.
 */
export function forward<T, R>(
  dispatcher: EventDispatcher<T, R>,
  { onLeave, check }: ForwardOptions = {},
): InformerEventHandler<T> {
  return {
    onEvent: (event) => {
      if (event.leftScope === true) {
        dispatcher.left(event.header);
        return onLeave?.(event.header);
      }
      check?.(event.header);
      dispatcher.dispatch(eventFrom(event));
    },
  };
}

/** Options of {@link forward}. */
export interface ForwardOptions {
  /** Called for an object that left the watched namespaces. */
  readonly onLeave?: ((header: ObjectHeader) => void) | undefined;
  /** Called before every other event. */
  readonly check?: ((header: ObjectHeader) => void) | undefined;
}

/** Waits until the initial list was delivered and its handlers are done, some of which may wait for something. */
export async function waitForHandler<T, R>(
  registration: InformerRegistration,
  dispatcher: EventDispatcher<T, R>,
  signal: AbortSignal,
): Promise<void> {
  await registration.waitForSync({ signal });
  await dispatcher.delivered();
}

/**
 * Delivers the objects of an informer once more, by adding a further handler that gets them as its initial list and
 * removing it.
 */
export async function replayInformer<T, R>(
  informer: EventInformer<T>,
  dispatcher: EventDispatcher<T, R>,
  signal: AbortSignal,
): Promise<void> {
  const handler = forward(dispatcher);
  const registration = informer.addEventHandler({
    onEvent: (event) => {
      if (event.isInInitialList) handler.onEvent(event); // the source's own handler has the others
    },
  });
  requireRegistration(registration);
  try {
    await orAborted(registration.waitForSync({ signal }), signal);
    await orAborted(dispatcher.idle(), signal);
  } finally {
    await registration.remove();
  }
}
