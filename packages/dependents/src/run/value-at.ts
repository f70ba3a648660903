import { isJsonObject } from '@kctl/apimachinery/internal';

/**
 * The value of a field, by its path in the notation of differences: `spec.containers[name=app].image`. Of a path that
 * ends below a scalar, the scalar.
 */
export function valueAt(value: unknown, path: string): unknown {
  let present = value;
  for (const step of path.match(/[^.[\]]+=[^\]]*(?=\])|[^.[\]]+/g) ?? []) {
    if (typeof present !== 'object' || present === null) return present;
    const [key = '', wanted] = step.includes('=') ? step.split('=') : [step];
    present = Array.isArray(present)
      ? present.find((item: unknown) => isJsonObject(item) && String(item[key]) === wanted?.replaceAll('"', ''))
      : Reflect.get(present, key);
  }
  return present;
}

/** Whether a value is an object or a list without anything in it. */
export function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
