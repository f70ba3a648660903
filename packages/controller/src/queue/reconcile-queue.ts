import type { PriorityQueue, RateLimiter, RateLimitingQueue } from '@kctl/workqueue';
import type { Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';

/** Requirements of a controller on its queue. A `PriorityQueue` of @kctl/workqueue meets them. */
export type ReconcileQueue<R> = Pick<
  PriorityQueue<R>,
  'addWith' | 'getWithPriority' | 'tryGetWithPriority' | 'done' | 'forget' | 'shutDown' | 'length'
>;

/** Arguments of a {@link QueueFactory}. */
export interface QueueFactoryOptions<R> {
  readonly name: string;
  readonly controller: string;
  readonly key: (request: R) => string;
  readonly rateLimiter: RateLimiter<R>;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** Makes the queue of a controller. Mirrors `controller.Options.NewQueue`. */
export type QueueFactory<R> = (options: QueueFactoryOptions<R>) => ReconcileQueue<R> | RateLimitingQueue<R>;

/**
 * Adapts a queue without priorities for the controller. `rateLimited` takes precedence over `afterMs`, priorities read
 * as 0. Such a queue keeps client-go's semantics, so a requeue that was planned before an event survives it, and the
 * key runs twice.
 *
 * @throws TypeError when it is not a queue
 */
export function adaptQueue<R>(queue: ReconcileQueue<R> | RateLimitingQueue<R>): ReconcileQueue<R> {
  if (!isQueue(queue))
    throw new TypeError(
      'newQueue is not valid: it returned something that is not a queue: expected one of @kctl/workqueue, such as createPriorityQueue(options)',
    );
  if ('addWith' in queue) return queue;
  const add: ReconcileQueue<R>['addWith'] = (options, ...items) => {
    for (const item of items) {
      if (options.rateLimited === true) queue.addRateLimited(item, { error: options.error });
      else if (options.debounce !== undefined) queue.addDebounced(item, options.debounce);
      else if (options.afterMs !== undefined && options.afterMs > 0) queue.addAfter(item, options.afterMs);
      else queue.add(item);
    }
  };
  const plain = (item: R) => ({ item, priority: 0, reasons: [] });
  return {
    addWith: add,
    getWithPriority: async (options) => {
      const item = await queue.get(options);
      return item === undefined ? undefined : plain(item);
    },
    tryGetWithPriority: () => {
      const item = queue.tryGet();
      return item === undefined ? undefined : plain(item);
    },
    done: (item) => queue.done(item),
    forget: (item) => queue.forget(item),
    shutDown: () => queue.shutDown(),
    get length() {
      return queue.length;
    },
  };
}

function isQueue(queue: unknown): boolean {
  return (
    typeof queue === 'object' && queue !== null && 'done' in queue && ('addWith' in queue || 'addRateLimited' in queue)
  );
}

/**
 * The same function, which remembers its last result, because a request's key is computed several times in a row, and a
 * newly built string is also hashed anew.
 */
export function rememberingKey<R>(requestKey: (request: R) => string): (request: R) => string {
  let last: R | undefined;
  let key = '';
  return (request) => {
    if (request !== last || request === undefined) {
      const made: unknown = requestKey(request);
      if (typeof made !== 'string')
        throw new TypeError(`requestKey returned something of type ${typeof made}: expected a string`);
      key = made;
      last = request;
    }
    return key;
  };
}

/**
 * The identity of a request. For objects of `name`, `namespace` and `cluster`, these three; for strings, the string;
 * for anything else its JSON with sorted keys, in which a bigint has a distinct form.
 *
 * @throws TypeError for a request that has no JSON, and for null
 */
export function defaultRequestKey(request: unknown): string {
  if (typeof request === 'string') return request;
  if (request === null) throw new TypeError('a request is null: expected one such as { namespace, name }');
  return objectKey(request) ?? jsonKey(request);
}

/** String that identifies a request. @throws TypeError for a request without one, such as a cycle or a function */
export function jsonKey(request: unknown): string {
  let text: unknown;
  try {
    text = JSON.stringify(request, comparable);
  } catch (error) {
    throw unnamed(error);
  }
  if (typeof text !== 'string') throw unnamed(undefined);
  return text;
}

function unnamed(cause: unknown): TypeError {
  return new TypeError('a request has no JSON to name it by: give createController({ requestKey })', { cause });
}

function objectKey(request: unknown): string | undefined {
  if (typeof request !== 'object' || request === null || !('name' in request)) return undefined;
  // Called for every event, so no Object.entries, no copies.
  for (const field in request) if (field !== 'name' && field !== 'namespace' && field !== 'cluster') return undefined;
  const { name } = request;
  const namespace: unknown = 'namespace' in request ? (request.namespace ?? '') : '';
  const cluster: unknown = 'cluster' in request ? (request.cluster ?? '') : '';
  if (typeof name !== 'string' || typeof namespace !== 'string' || typeof cluster !== 'string') return undefined;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return cluster === '' ? key : `${cluster}//${key}`;
}

/** Keys in order, and big integers distinct from numbers and strings. */
function comparable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: value.toString() };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
