import { LibraryValue, ListValue, MapValue, Optional, type Failure, type Value } from '../values/value.js';

/** Cost of reading a character of a string. */
export const stringFactor = 0.1;
/** Cost of a character of a regular expression for each ten characters of the string. */
export const regexFactor = 0.25;

/** How many characters a string has. */
export function characters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const code = text.charCodeAt(index);
    if (code < 0xd800 || code > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      index++;
    }
  }
  return count;
}

/** A library value whose comparison costs by its size, such as an address or a network. */
export abstract class SizedLibraryValue extends LibraryValue {
  abstract get size(): number;
}

/** CEL's `size()` of a value if it has one, else 1. */
export function actualSize(value: Value | Failure | undefined): number {
  if (typeof value === 'string') return characters(value);
  if (value instanceof ListValue || value instanceof MapValue || value instanceof SizedLibraryValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional && value.value !== undefined) return actualSize(value.value);
  return 1;
}
