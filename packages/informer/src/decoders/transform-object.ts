import type { KubeObject } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { shownType } from '@kctl/options';

const identityMembers = ['namespace', 'name', 'uid', 'resourceVersion'] as const;

/**
 * The stored form of an object that has a transform, which is the transform's result, with the identity that the server
 * gave the object. Without its version a reopened watch would start over, under another name its deletion would not be
 * found. The transform may change its argument.
 *
 * @throws the error of the transform; TypeError if it is not a function, or if its argument or result is anything but
 * an object with metadata
 */
export function transformObject<T extends KubeObject>(object: T, transform: (object: T) => T): T {
  if (typeof transform !== 'function')
    throw new TypeError(`transformObject: transform is ${shownType(transform)}: expected a function`);
  if (!isJsonObject(object) || !isJsonObject(object.metadata))
    throw new TypeError(`transformObject: object is ${shownType(object)}: expected an object with metadata`);
  const original: KubeObject['metadata'] = { ...object.metadata };
  const returned: unknown = transform(object);
  if (!isJsonObject(returned) || !isJsonObject(returned['metadata']))
    throw new TypeError(
      `the transform returned ${isJsonObject(returned) && !(returned instanceof Promise) ? 'an object without metadata' : shownType(returned)}: expected an object with metadata`,
    );
  const metadata: Record<string, unknown> = returned['metadata'];
  if (identityMembers.every((member) => (metadata[member] ?? '') === (original[member] ?? '')))
    return returned as unknown as T;
  const restored: Record<string, unknown> = { ...metadata };
  for (const member of identityMembers)
    if (original[member] === undefined) delete restored[member];
    else restored[member] = original[member];
  return { ...returned, metadata: restored } as unknown as T;
}
