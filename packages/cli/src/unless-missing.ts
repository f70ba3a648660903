import { isNotFound } from '@kctl/apimachinery';

/** What a read returns; undefined where the object is not there. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
