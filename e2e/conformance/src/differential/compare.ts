/** Where two JSON values differ. */
import type { Json } from '../harness/doc.js';

export interface Divergence {
  /** As `/body/spec/ports/0`. */
  readonly path: string;
  readonly real: Json;
  readonly embedded: Json;
}

export function divergences(real: Json, embedded: Json, path = ''): Divergence[] {
  if (Object.is(real, embedded)) return [];
  if (Array.isArray(real) && Array.isArray(embedded)) {
    if (real.length !== embedded.length) return [{ path, real, embedded }];
    return real.flatMap((item, index) => divergences(item, embedded[index], `${path}/${index}`));
  }
  if (isObject(real) && isObject(embedded)) {
    const keys = new Set([...Object.keys(real), ...Object.keys(embedded)]);
    return [...keys].flatMap((key) => divergences(real[key], embedded[key], `${path}/${key}`));
  }
  return [{ path, real, embedded }];
}

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
