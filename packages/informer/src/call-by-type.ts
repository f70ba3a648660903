import type { KubeObject } from '@kctl/apimachinery';
import type { InformerEvent, InformerEventHandler } from './event.js';

/** Calls `onAdd`, `onUpdate` or `onDelete`, where the handler has it. */
export function callByType<T extends KubeObject>(
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
