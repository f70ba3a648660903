import type { PriorityQueue, RateLimiter, RateLimitingQueue } from '@kctl/workqueue';
import type { Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';

/** What a controller needs of its queue. A `PriorityQueue` of @kctl/workqueue is one. */
export type ReconcileQueue<R> = Pick<
  PriorityQueue<R>,
  'addWith' | 'getWithPriority' | 'tryGetWithPriority' | 'done' | 'forget' | 'shutDown' | 'length'
>;

/** What a {@link QueueFactory} is given. */
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
 * A queue without priorities as the controller's: `rateLimited` beats `afterMs`, priorities read as 0. Such a queue
 * keeps client-go's semantics, so a requeue that was planned before an event survives it: the key runs twice.
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
 * The same function, which remembers its last answer: on its way a request is asked for its key several times in a row,
 * and a text that is put together anew is also hashed anew.
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
 * The identity of a request: for objects of `name`, `namespace` and `cluster` these three; for strings the string; for
 * anything else its JSON with sorted keys, in which a bigint has a form of its own.
 *
 * @throws TypeError for a request that has no JSON, and for null
 */
export function defaultRequestKey(request: unknown): string {
  if (typeof request === 'string') return request;
  if (request === null) throw new TypeError('a request is null: expected one such as { namespace, name }');
  return objectKey(request) ?? jsonKey(request);
}

/** Text that identifies a request. @throws TypeError for one that has none, such as a cycle or a function */
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
  // Asked for every event: no Object.entries, no copies.
  for (const field in request) if (field !== 'name' && field !== 'namespace' && field !== 'cluster') return undefined;
  const { name } = request;
  const namespace: unknown = 'namespace' in request ? (request.namespace ?? '') : '';
  const cluster: unknown = 'cluster' in request ? (request.cluster ?? '') : '';
  if (typeof name !== 'string' || typeof namespace !== 'string' || typeof cluster !== 'string') return undefined;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return cluster === '' ? key : `${cluster}//${key}`;
}

/** Keys in their order, and big integers apart from numbers and texts. */
function comparable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: value.toString() };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
