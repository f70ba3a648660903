import { isThenable } from '@kctl/options';
import { functionOption, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { CreateEvent, DeleteEvent, GenericEvent, ObjectEvent, UpdateEvent } from '../event/object-event.js';
import type { EventHandler, HandlerContext, RequestQueue } from './event-handler.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';

type Handle<E, R> = (event: E, queue: RequestQueue<R>, context: HandlerContext) => unknown;

/** Members of {@link handlerFuncs}; a missing one ignores such events. A returned promise is awaited. */
export interface HandlerFuncs<T, R> {
  readonly create?: Handle<CreateEvent<T>, R>;
  readonly update?: Handle<UpdateEvent<T>, R>;
  readonly delete?: Handle<DeleteEvent<T>, R>;
  readonly generic?: Handle<GenericEvent<T>, R>;
}

const names: OptionNames<HandlerFuncs<never, never>> = {
  create: functionOption,
  update: functionOption,
  delete: functionOption,
  generic: functionOption,
};

/**
 * A handler by event type, with {@link withLowPriorityWhenUnchanged} applied. Mirrors `handler.Funcs`.
 *
 * @throws TypeError for a member that is not known, whose events would all be ignored, or not a function
 */
export function handlerFuncs<T, R>(funcs: HandlerFuncs<T, R>): EventHandler<T, R> {
  requireOptions('handlerFuncs', funcs, names);
  return withLowPriorityWhenUnchanged((event, queue, context) => {
    const result = call(funcs, event, { queue, context });
    return isThenable(result) ? Promise.resolve(result).then(() => undefined) : undefined;
  });
}

interface Target<R> {
  readonly queue: RequestQueue<R>;
  readonly context: HandlerContext;
}

function call<T, R>(funcs: HandlerFuncs<T, R>, event: ObjectEvent<T>, { queue, context }: Target<R>): unknown {
  switch (event.type) {
    case 'create':
      return funcs.create?.(event, queue, context);
    case 'update':
      return funcs.update?.(event, queue, context);
    case 'delete':
      return funcs.delete?.(event, queue, context);
    case 'generic':
      return funcs.generic?.(event, queue, context);
  }
}
