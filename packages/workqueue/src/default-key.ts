import { QueueArgumentError } from './errors.js';
import type { KeyFunction, QueueKey } from './work-queue.js';

/** Cannot occur in a Kubernetes name, nor in anything else that people use as one. */
const separator = '\u0000';

/**
 * The key of an item without a key function. Strings and numbers are their own keys; an object is identified by
 * `cluster`, `namespace` and `name` if these are all it has. Anything else is refused rather than merged by accident.
 *
 * @throws QueueArgumentError for any other item
 */
export function defaultKey(item: unknown): QueueKey {
  if (typeof item === 'string') return item;
  if (typeof item === 'number' && !Number.isNaN(item)) return item;
  if (typeof item === 'object' && item !== null && 'name' in item && typeof item.name === 'string') {
    const namespace = optionalString(item, 'namespace');
    const cluster = optionalString(item, 'cluster');
    if (namespace !== undefined && cluster !== undefined && hasOnlyKeyParts(item))
      return cluster + separator + namespace + separator + item.name;
  }
  throw new QueueArgumentError(
    'item',
    item,
    'give the queue (and its rate limiter) a `key` function that says which items are the same work',
  );
}

/**
 * The key of an item by a key function of the user's.
 *
 * @throws QueueArgumentError for a key that is not a string or a number, because it would be merged with unrelated ones
 */
export function keyBy<T>(key: KeyFunction<T>, item: T): QueueKey {
  if (item === undefined)
    throw new QueueArgumentError('item', item, 'give any other value: undefined is what `get` returns at shutdown');
  const result: unknown = key(item);
  if (typeof result === 'string' || (typeof result === 'number' && !Number.isNaN(result))) return result;
  throw new QueueArgumentError(
    'the result of the key function',
    result,
    'return a string or a number other than NaN for each item',
  );
}

/** '' if the part is absent, undefined if it is not a string. */
function optionalString(item: object, part: 'namespace' | 'cluster'): string | undefined {
  const value: unknown = Reflect.get(item, part);
  if (value === undefined) return '';
  return typeof value === 'string' ? value : undefined;
}

function hasOnlyKeyParts(item: object): boolean {
  for (const property in item)
    if (property !== 'name' && property !== 'namespace' && property !== 'cluster') return false;
  return true;
}
