import { isAlreadyExists, isNotFound } from '@kctl/apimachinery';

/**
 * The result, or undefined where the object is not there: `const pod = await ignoreNotFound(client.get(Pod, key))`.
 * Other failures pass. Mirrors `client.IgnoreNotFound`.
 */
export function ignoreNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  return ignore(call, isNotFound);
}

/** The result, or undefined where the object is there already. Other failures pass. Mirrors `client.IgnoreAlreadyExists`. */
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
