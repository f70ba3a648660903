import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { EventHandler } from './event-handler.js';

const mark: unique symbol = Symbol.for('kctl.ownRequest') as never;

/** A handler whose request names the object of the event itself. */
type OwnHandler<T, R> = EventHandler<T, R> & { readonly [mark]: (header: ObjectHeader) => R };

/** Sets the function that returns a handler's request for the object itself. Returns the handler. */
export function withOwnRequest<T, R>(
  handler: EventHandler<T, R>,
  requestFor: (header: ObjectHeader) => R,
): EventHandler<T, R> {
  return Object.assign(handler, { [mark]: requestFor });
}

/** The request of such a handler that names an object; undefined for any other handler. */
export function ownRequestOf<T, R>(handler: EventHandler<T, R>, header: ObjectHeader): R | undefined {
  return isOwn(handler) ? handler[mark](header) : undefined;
}

function isOwn<T, R>(handler: EventHandler<T, R>): handler is OwnHandler<T, R> {
  return mark in handler;
}
