/** JSON with integers beyond 2^53 as `bigint`, as the strict reader of write bodies returns an int64. */
export type Json = string | number | bigint | boolean | null | Json[] | { [key: string]: Json };

interface RawJson {
  rawJSON(text: string): unknown;
}

function canWriteRaw(json: unknown): json is RawJson {
  return typeof json === 'object' && json !== null && 'rawJSON' in json && typeof json.rawJSON === 'function';
}

function writeBigInt(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return canWriteRaw(JSON) ? JSON.rawJSON(value.toString()) : Number(value);
}

/** `JSON.stringify` that writes a `bigint` as the integer it is. Objects without one (all but very few) take the fast path. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError && error.message.includes('BigInt')) return JSON.stringify(value, writeBigInt);
    throw error;
  }
}
