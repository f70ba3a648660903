import type { ObjectKey } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';
import type { EventObject } from '../event/object-event.js';
import { headerOfEvent } from '../event/object-event.js';
import type { EventHandler } from './event-handler.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';
import { withOwnRequest } from './own-request.js';

/**
 * Queues the object of the event itself; for an update once, by the new object. One without a name is logged and
 * ignored. Mirrors `handler.EnqueueRequestForObject`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { enqueueRequestForObject, kindSource } from '@kctl/controller';
 *
 * const source = kindSource({ informers: manager.cache, kind: ConfigMap, handler: enqueueRequestForObject() });
 * ```
 */
export function enqueueRequestForObject(): EventHandler<EventObject, ObjectKey> {
  const handler: EventHandler<EventObject, ObjectKey> = (event, queue, { logger }) => {
    const header = headerOfEvent(event);
    if (header.name === '') {
      logger.error('an event of an object without a name was received, it is ignored', { event: event.type });
      return undefined;
    }
    queue.add(requestFor(header), { presence: event.type === 'delete' ? 'gone' : 'present' });
    return undefined;
  };
  return withOwnRequest(withLowPriorityWhenUnchanged(handler), requestFor);
}

function requestFor({ namespace, name }: ObjectHeader): ObjectKey {
  return namespace === '' ? { name } : { namespace, name };
}
