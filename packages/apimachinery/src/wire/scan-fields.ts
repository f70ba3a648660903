import type { FieldPaths, PathNode } from './field-paths.js';
import {
  afterColon,
  closeBrace,
  comma,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  skipString,
  skipValue,
} from './skip.js';
import { readText } from './text.js';

/** How far {@link readScalar} has read, with the byte that ends a number. */
let fieldsReadTo = -1;

/**
 * Reads the declared paths from what follows `metadata`, after a `scanObject` without paths that found
 * `isMetadataFirst`. For paths that do not lead into metadata.
 *
 * @returns the position after the last byte that decides the values; −1 where not all have one, −2 where the bytes are
 * not understood
 */
export function scanBodyFields(
  bytes: Uint8Array,
  end: number,
  target: {
    readonly scan: { readonly metadataEnd: number; readonly fields: (string | undefined)[] };
    readonly paths: FieldPaths;
  },
): number {
  const { scan, paths } = target;
  let open = paths.paths.length;
  scan.fields.length = 0;
  for (let index = 0; index < open; index++) scan.fields.push(undefined);
  fieldsReadTo = -1;
  let position = skipSpace(bytes, scan.metadataEnd, end);
  while (bytes[position] === comma) {
    position = skipSpace(bytes, position + 1, end);
    if (bytes[position] !== quote) return -2;
    const keyStart = position + 1;
    const keyEnd = skipString(bytes, position, end) - 1;
    if (keyEnd < 0) return -2;
    position = afterColon(bytes, keyEnd + 1, end);
    if (position < 0) return -2;
    const node = childOf(paths.root, bytes, keyStart, keyEnd);
    if (node !== undefined) open -= scanFields(bytes, position, end, { node, fields: scan.fields });
    if (open <= 0) return fieldsReadTo;
    const next = skipValue(bytes, position, end);
    if (next < 0) return -2;
    position = skipSpace(bytes, next, end);
  }
  return bytes[position] === closeBrace ? -1 : -2;
}

/** The child of `node` that a key names. */
export function childOf(
  node: PathNode | undefined,
  bytes: Uint8Array,
  start: number,
  end: number,
): PathNode | undefined {
  if (node === undefined) return undefined;
  for (const child of node.children) {
    const { key } = child;
    if (key.length !== end - start) continue;
    let index = 0;
    while (index < key.length && key[index] === bytes[start + index]) index++;
    if (index === key.length) return child;
  }
  return undefined;
}

/** Reads the declared paths below the value at `at`. Returns how many it found. */
export function scanFields(
  bytes: Uint8Array,
  at: number,
  end: number,
  target: { readonly node: PathNode; readonly fields: (string | undefined)[] },
): number {
  const { node, fields } = target;
  let found = 0;
  if (node.index >= 0) {
    const value = readScalar(bytes, at, end);
    if (value !== undefined) {
      fields[node.index] = value;
      found++;
    }
  }
  if (node.children.length === 0 || bytes[at] !== openBrace) return found;
  let position = at + 1;
  for (;;) {
    position = skipSpace(bytes, position, end);
    if (bytes[position] !== quote) return found;
    const keyStart = position + 1;
    const keyEnd = skipString(bytes, position, end) - 1;
    if (keyEnd < 0) return found;
    position = afterColon(bytes, keyEnd + 1, end);
    if (position < 0) return found;
    const child = childOf(node, bytes, keyStart, keyEnd);
    if (child !== undefined) {
      found += scanFields(bytes, position, end, { node: child, fields });
      if (found === node.leaves) return found;
    }
    const next = skipValue(bytes, position, end);
    if (next < 0) return found;
    position = skipSpace(bytes, next, end);
    if (bytes[position] !== comma) return found;
    position++;
  }
}

/** A string, number or boolean as text, as field selectors compare it; undefined for anything else. */
function readScalar(bytes: Uint8Array, at: number, end: number): string | undefined {
  const first = bytes[at];
  if (first === openBrace || first === openBracket || first === 0x6e) return undefined;
  const next = skipValue(bytes, at, end);
  if (next < 0) return undefined;
  if (next >= fieldsReadTo) fieldsReadTo = next + 1;
  const text = readText(bytes, at, next);
  if (first !== quote) return text;
  if (!text.includes('\\')) return text.slice(1, -1);
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' ? value : undefined;
}
