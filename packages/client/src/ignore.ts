import { isAlreadyExists, isNotFound } from '@kctl/apimachinery';

/**
 * Returns the result, or undefined if the object does not exist, as in
 * `const pod = await ignoreNotFound(client.get(Pod, key))`. Other failures pass. Mirrors `client.IgnoreNotFound`.
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { ignoreNotFound } from '@kctl/client';
 *
 * const pod = await ignoreNotFound(client.get(Pod, { namespace: 'shop', name: 'web-0' }));
 * if (pod === undefined) console.log('gone');
 * ```
 */
export function ignoreNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  return ignore(call, isNotFound);
}

/**
 * Returns the result, or undefined if the object already exists. Other failures pass. Mirrors
 * `client.IgnoreAlreadyExists`.
 */
export function ignoreAlreadyExists<T>(call: Promise<T>): Promise<T | undefined> {
  return ignore(call, isAlreadyExists);
}

async function ignore<T>(call: Promise<T>, isIgnored: (error: unknown) => boolean): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isIgnored(error)) return undefined;
    throw error;
  }
}
