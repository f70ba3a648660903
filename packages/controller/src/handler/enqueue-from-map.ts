import { isThenable } from '@kctl/options';
import type { Logger } from '@kctl/telemetry';
import { shownType } from '@kctl/options';
import type { ObjectEvent } from '../event/object-event.js';
import { jsonKey } from '../queue/reconcile-queue.js';
import { requireFunction } from '../event/required.js';
import type { EventHandler, RequestQueue } from './event-handler.js';
import { withLowPriorityWhenUnchanged } from './low-priority.js';

/** Context of a {@link MapFunction} besides the object. */
export interface MapContext {
  /** Aborted when the watch is removed or the controller stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Returns the requests for an object. It may be asynchronous and may fail; the event is then handled again with
 * back-off. Mirrors `handler.MapFunc`, which supports neither.
 */
export type MapFunction<T, R> = (object: T, context: MapContext) => Iterable<R> | Promise<Iterable<R>>;

/**
 * Queues what `map` returns; for an update first for the old object, then for the new one. Each distinct request is
 * added once per event, in the order of first mention. Mirrors `handler.EnqueueRequestsFromMapFunc`.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { controllerManagedBy } from '@kctl/builder';
 * import { enqueueRequestsFromMapFunc } from '@kctl/controller';
 *
 * controllerManagedBy(manager)
 *   .for(Deployment)
 *   .watches(
 *     ConfigMap,
 *     enqueueRequestsFromMapFunc(({ metadata: { namespace, name } }) => [{ namespace, name: `web-${name}` }]),
 *   )
 *   .reconcile(async () => {});
 * ```
 */
export function enqueueRequestsFromMapFunc<T, R>(map: MapFunction<T, R>): EventHandler<T, R> {
  requireFunction('enqueueRequestsFromMapFunc', 'map', map);
  return withLowPriorityWhenUnchanged((event, queue, context) => {
    const known: Iterable<R>[] = [];
    const awaited: Promise<Iterable<R>>[] = [];
    /** Both, in the order of the objects. */
    const mapped: (Iterable<R> | Promise<Iterable<R>>)[] = [];
    try {
      for (const object of objectsOf(event)) {
        const requests = map(object, context);
        if (isThenable(requests)) {
          const promise = Promise.resolve(requests);
          awaited.push(promise);
          mapped.push(promise);
        } else {
          known.push(requests);
          mapped.push(requests);
        }
      }
    } finally {
      // If the map of the new object throws, the outcome for the old one is irrelevant, because the event is repeated.
      for (const each of awaited) each.catch(() => undefined);
    }
    // All together, even if only one is awaited. Each request is queued once, and in order.
    if (awaited.length > 0)
      return Promise.all(mapped.map((each) => Promise.resolve(each))).then((all) => addEachOnce(all, queue));
    addEachOnce(known, queue);
    return undefined;
  });
}

function objectsOf<T>(event: ObjectEvent<T>): T[] {
  return event.type === 'update' ? [event.oldObject, event.object] : [event.object];
}

/** @throws the first failure, when the requests that are in order have been added */
function addEachOnce<R>(mapped: readonly Iterable<R>[], queue: RequestQueue<R>): void {
  const seen = new Set<unknown>();
  const failures: unknown[] = [];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failures.push(error);
    }
  };
  for (const requests of mapped) {
    attempt(() => {
      for (const request of requestsOf(requests)) {
        const identity = identityOf(request);
        if (seen.has(identity)) continue;
        seen.add(identity);
        attempt(() => queue.add(request));
      }
    });
  }
  if (failures.length > 0) throw failures[0];
}

/** Result of a map function. null and undefined mean no requests, as a nil slice does in Go. */
function requestsOf<R>(returned: Iterable<R> | null | undefined): Iterable<R> {
  if (returned === undefined || returned === null) return [];
  if (typeof returned === 'object' && Symbol.iterator in returned && !ArrayBuffer.isView(returned)) return returned;
  throw new TypeError(
    `the map function returned ${shownType(returned)}: expected requests, such as [{ namespace: 'shop', name: 'web' }]`,
  );
}

/** Its JSON; of a request that has none, which only a `requestKey` can name, itself. */
function identityOf(request: unknown): unknown {
  try {
    return jsonKey(request);
  } catch {
    return request;
  }
}
