import type { ObjectKey } from '@kctl/apimachinery';
import type { EventObject } from '../event/object-event.js';
import { headerOfEvent } from '../event/object-event.js';
import type { EventHandler } from './event-handler.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';

/**
 * Queues the object of the event itself; for an update once, by the new object. Mirrors
 * `handler.EnqueueRequestForObject`.
 */
export function enqueueRequestForObject(): EventHandler<EventObject, ObjectKey> {
  return withLowPriorityWhenUnchanged((event, queue) => {
    const { namespace, name } = headerOfEvent(event);
    if (name === '') throw new TypeError('enqueueRequestForObject: the object of the event has no name');
    queue.add(namespace === '' ? { name } : { namespace, name }, {
      presence: event.type === 'delete' ? 'gone' : 'present',
    });
    return undefined;
  });
}
