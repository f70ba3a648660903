import { formatKey } from '@kctl/apimachinery';
import { functionOption, shownValue } from '@kctl/options';

/**
 * `namespace/name` of an object, or `name` if it has no namespace. Mirrors `cache.MetaNamespaceKeyFunc`.
 *
 * @throws TypeError if it has no name
 */
export function metaNamespaceKey(object: unknown): string {
  if (typeof object === 'object' && object !== null && 'metadata' in object) {
    const { metadata } = object;
    if (typeof metadata === 'object' && metadata !== null && 'name' in metadata && typeof metadata.name === 'string') {
      const namespace = 'namespace' in metadata && typeof metadata.namespace === 'string' ? metadata.namespace : '';
      return formatKey({ namespace, name: metadata.name });
    }
  }
  throw new TypeError('an object has no metadata.name: give the option key');
}

/** A function of the option `key` that refuses what is not a key. */
export function keyFunction<T>(caller: string, key: ((object: T) => string) | undefined): (object: T) => string {
  const problem = key === undefined ? undefined : functionOption('key', key);
  if (problem !== undefined) throw new TypeError(`${caller}: ${problem}`);
  const keyOf: (object: T) => unknown = key ?? metaNamespaceKey;
  return (object) => {
    const made = keyOf(object);
    if (typeof made === 'string' && made !== '') return made;
    throw new TypeError(
      `${caller}: the key of an object ${shownValue(made)} is not valid: expected a non-empty string`,
    );
  };
}
