import type { KubeObject } from '@kctl/apimachinery';
import { isThenable } from '@kctl/options';
import type { InformerEvent, InformerEventHandler } from './event.js';

/** Calls `onEvent`, then the callback of the event's type, if the handler has them; the first one is awaited. */
export function callHandler<T extends KubeObject>(
  handler: InformerEventHandler<T>,
  event: InformerEvent<T>,
): void | Promise<void> {
  if (handler.onEvent === undefined) return callByType(handler, event);
  const first: unknown = handler.onEvent(event);
  return isThenable(first) ? Promise.resolve(first).then(() => callByType(handler, event)) : callByType(handler, event);
}

function callByType<T extends KubeObject>(
  handler: InformerEventHandler<T>,
  event: InformerEvent<T>,
): void | Promise<void> {
  switch (event.type) {
    case 'add':
      return handler.onAdd?.(event.object, { isInInitialList: event.isInInitialList });
    case 'update':
      return handler.onUpdate?.(event.oldObject ?? event.object, event.object, { isResync: event.isResync });
    case 'delete':
      return handler.onDelete?.(event.object, {
        finalStateUnknown: event.finalStateUnknown,
        leftScope: event.leftScope,
      });
  }
}
