import type { Logger } from '@kctl/telemetry';
import type { CreateEvent, DeleteEvent, GenericEvent, ObjectEvent, UpdateEvent } from '../event/object-event.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';

/** How a handler wants a request to be queued. */
export interface EnqueueOptions {
  /** ms until the request is ready; negative counts as 0. @default 0 */
  readonly afterMs?: number;
  /** Adds the key's back-off; together with `afterMs` the shorter one counts. @default false */
  readonly rateLimited?: boolean;
  /** Higher goes first. @default 0, or `lowPriority` where the built-in handlers find the event unchanged */
  readonly priority?: number;
  /** What the event says about the object that the request names; only where both are the same object. */
  readonly presence?: 'present' | 'gone';
}

/** The side of the queue that handlers see. Never blocks, never throws; after shutdown it ignores what is added. */
export interface RequestQueue<R> {
  add(request: R, options?: EnqueueOptions): void;
}

/** What a handler gets besides the event. */
export interface HandlerContext {
  /** Aborted when the watch is removed or the controller stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Turns an event into requests. Events of one object arrive in order; a handler that returns a promise is awaited
 * before the next event of the same object, and called again with back-off when it rejects, so that a look-up that
 * fails loses no event. Mirrors `handler.EventHandler`: one function over the event union instead of four methods.
 */
export type EventHandler<T, R> = (
  event: ObjectEvent<T>,
  queue: RequestQueue<R>,
  context: HandlerContext,
) => Promise<void> | undefined;

type Handle<E, R> = (event: E, queue: RequestQueue<R>, context: HandlerContext) => unknown;

/** Members of {@link handlerFuncs}; a missing one ignores such events. A returned promise is awaited. */
export interface HandlerFuncs<T, R> {
  readonly create?: Handle<CreateEvent<T>, R>;
  readonly update?: Handle<UpdateEvent<T>, R>;
  readonly delete?: Handle<DeleteEvent<T>, R>;
  readonly generic?: Handle<GenericEvent<T>, R>;
}

/** A handler by event type, with {@link withLowPriorityWhenUnchanged} applied. Mirrors `handler.Funcs`. */
export function handlerFuncs<T, R>(funcs: HandlerFuncs<T, R>): EventHandler<T, R> {
  return withLowPriorityWhenUnchanged((event, queue, context) => {
    const result = call(funcs, event, { queue, context });
    return result instanceof Promise ? result.then(() => undefined) : undefined;
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
