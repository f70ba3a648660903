import { compareText, isObject } from '../values/json.js';

/** A string that is equal for equal values, which is Go's sorted JSON. */
export function fingerprint(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(fingerprint).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value).sort(compareText);
  return `{${entries.map((name) => `${JSON.stringify(name)}:${fingerprint(value[name])}`).join(',')}}`;
}
