import { lowPriority } from '@kctl/workqueue';
import type { ObjectEvent } from '../event/object-event.js';
import { requireFunction } from '../event/required.js';
import type { EventHandler, RequestQueue } from './event-handler.js';

/**
 * Queues requests of probably unchanged objects with {@link lowPriority}, unless the handler sets a priority, so that
 * after a restart real changes overtake the backlog. The built-in handlers already apply it.
 */
export function withLowPriorityWhenUnchanged<T, R>(handler: EventHandler<T, R>): EventHandler<T, R> {
  requireFunction('withLowPriorityWhenUnchanged', 'handler', handler);
  return (event, queue, context) => handler(event, isUnchanged(event) ? new LowPriorityQueue(queue) : queue, context);
}

class LowPriorityQueue<R> implements RequestQueue<R> {
  readonly #queue: RequestQueue<R>;

  constructor(queue: RequestQueue<R>) {
    this.#queue = queue;
  }

  add(request: R, options: Parameters<RequestQueue<R>['add']>[1] = {}): void {
    this.#queue.add(request, options.priority === undefined ? { ...options, priority: lowPriority } : options);
  }
}

/** Part of an initial list, or a replay of the same resourceVersion. Things without a version are never replays. */
function isUnchanged<T>(event: ObjectEvent<T>): boolean {
  if (event.type === 'create') return event.isInInitialList;
  if (event.type !== 'update') return false;
  const version = event.header?.resourceVersion ?? versionOf(event.object);
  return (
    version !== undefined &&
    version !== '' &&
    version === (event.oldHeader?.resourceVersion ?? versionOf(event.oldObject))
  );
}

function versionOf(object: unknown): string | undefined {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return undefined;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null || !('resourceVersion' in metadata)) return undefined;
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : undefined;
}
