import type { Logger } from '@kctl/telemetry';
import type { ObjectEvent } from '../event/object-event.js';

/** How a handler wants a request to be queued. */
export interface EnqueueOptions {
  /** ms until the request is ready; negative counts as 0. @default 0 */
  readonly afterMs?: number;
  /** Adds the key's back-off; together with `afterMs` the shorter one counts. @default false */
  readonly rateLimited?: boolean;
  /** Higher goes first. @default 0, or `lowPriority` if the built-in handlers find the event unchanged */
  readonly priority?: number;
  /** Presence of the object named by the request, according to the event; only if both are the same object. */
  readonly presence?: 'present' | 'gone';
}

/** The side of the queue that handlers see. Never blocks, never throws; after shutdown it ignores what is added. */
export interface RequestQueue<R> {
  add(request: R, options?: EnqueueOptions): void;
}

/** Context of a handler besides the event. */
export interface HandlerContext {
  /** Aborted when the watch is removed or the controller stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Turns an event into requests. Events arrive in order and one at a time. A handler that returns a promise (or any
 * thenable) is awaited before it is called again, for up to 30 s (`handlerConcurrency` of a source lets it wait for
 * several objects). A handler that fails is called again with back-off, so that a look-up that fails loses no event;
 * neither the start of the controller nor another object waits for that. An event that keeps failing yields to a newer
 * one of its object. A call that does not settle is reported, and its event is tried again with the next one of its
 * object, or some minutes later, so give the look-ups of a handler a deadline. While more than 16 events of one object
 * wait, the newest merge. Mirrors `handler.EventHandler`, with one function over the event union instead of four
 * methods.
 */
export type EventHandler<T, R> = (
  event: ObjectEvent<T>,
  queue: RequestQueue<R>,
  context: HandlerContext,
) => Promise<void> | undefined;
