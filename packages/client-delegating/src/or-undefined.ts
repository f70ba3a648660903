import { isNotFound } from '@kctl/apimachinery';

/** Returns the object, or undefined if it does not exist. */
export async function orUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
