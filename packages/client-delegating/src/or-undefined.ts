import { isNotFound } from '@kctl/apimachinery';

/** What is read, or undefined where it does not exist. */
export async function orUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
