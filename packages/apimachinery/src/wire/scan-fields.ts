import { parseJson } from '../json-text.js';
import type { FieldPaths, KeyMark, PathNode } from './field-paths.js';
import {
  afterColon,
  backslash,
  closeBrace,
  comma,
  isText,
  openBrace,
  openBracket,
  quote,
  skipKey,
  skipSpace,
  skipValue,
} from './skip.js';
import { asBuffer, readText } from './text.js';

/** A second one would be the one that counts. */
const metadataKey = [...Buffer.from('metadata')];

/** How many paths of the scan under way have no value yet. */
let pathsLeft = 0;
/** How far {@link readScalar} has read, with the byte that ends a number. */
let fieldsReadTo = -1;

/** The scan stops because all paths have a value. */
export const allFound = -2;

/** Begins to read the values of paths. */
export function beginFields(paths: FieldPaths, fields: (string | undefined)[]): void {
  pathsLeft = paths.paths.length;
  fieldsReadTo = -1;
  fields.length = 0;
  for (let index = 0; index < pathsLeft; index++) fields.push(undefined);
}

/** The position after the last byte that decides the values of the scan that was begun last; −1 if not all have one. */
function fieldsEnd(): number {
  return pathsLeft === 0 ? fieldsReadTo : -1;
}

/**
 * Reports whether a key of the paths may occur again behind `from`, in which case a parse takes the last one. Uses
 * native searches, which the objects of API servers mostly pass. If it may, only a comparison with the parsed object
 * shows whether the scanned values hold.
 */
export function mayRepeat(bytes: Uint8Array, from: number, end: number, { marks }: FieldPaths): boolean {
  // A few bytes behind the object, as in a watch frame, need no separate view.
  const within = asBuffer(bytes.length - end < 64 ? bytes : bytes.subarray(0, end));
  for (const mark of marks) if (hasKey(within, from, mark)) return true;
  return within.indexOf(backslash, from) >= 0 && keyEscapes.some((escape) => within.indexOf(escape, from) >= 0);
}

function hasKey(bytes: Buffer, from: number, { key, end, endAt }: KeyMark): boolean {
  for (let at = bytes.indexOf(end, from); at >= 0; at = bytes.indexOf(end, at + 1))
    if (at - endAt >= from && isText(bytes, at - endAt, key)) return true;
  return false;
}

/** The ways to write a letter of a key by an escape sequence, other than those for control characters. */
const keyEscapes = ['\\u', '\\/'].map((escape) => Buffer.from(escape));

/**
 * Reads the declared paths from what follows `metadata`, after a `scanObject` without paths that found
 * `isMetadataFirst`. For paths that do not lead into metadata.
 *
 * @returns the position after the last byte that decides the values, as long as {@link mayRepeat} finds nothing behind
 * it; −1 if not all have one, −2 if the bytes are not understood, or the parser has to decide which of two keys counts
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
  beginFields(paths, scan.fields);
  let seen = 0;
  let position = skipSpace(bytes, scan.metadataEnd, end);
  while (bytes[position] === comma) {
    position = skipSpace(bytes, position + 1, end);
    if (bytes[position] !== quote) return -2;
    const keyStart = position + 1;
    const keyEnd = skipKey(bytes, position, end) - 1;
    if (keyEnd < 0) return -2;
    position = afterColon(bytes, keyEnd + 1, end);
    if (position < 0) return -2;
    if (keyEnd - keyStart === metadataKey.length && isText(bytes, keyStart, metadataKey)) return -2;
    const which = childIndex(paths.root, bytes, keyStart, keyEnd);
    const node = which < 0 ? undefined : paths.root.children[which];
    let next: number;
    if (node === undefined) next = skipValue(bytes, position, end);
    else {
      const bit = 1 << which;
      if (which > mostChildren || (seen & bit) !== 0) return -2;
      seen |= bit;
      next = scanFields(bytes, position, end, { node, fields: scan.fields });
      if (next === allFound) return fieldsReadTo;
    }
    if (next < 0) return -2;
    position = skipSpace(bytes, next, end);
  }
  return bytes[position] === closeBrace ? fieldsEnd() : -2;
}

/** Which child of `node` a key names; −1 for none. */
export function childIndex(node: PathNode, bytes: Uint8Array, start: number, end: number): number {
  const { children } = node;
  for (let which = 0; which < children.length; which++) {
    const key = children[which]?.key;
    if (key?.length === end - start && isText(bytes, start, key)) return which;
  }
  return -1;
}

/**
 * Reads the declared paths below the value at `at`.
 *
 * @returns the position after the value; {@link allFound}; −1 if the bytes are not understood
 */
export function scanFields(
  bytes: Uint8Array,
  at: number,
  end: number,
  target: { readonly node: PathNode; readonly fields: (string | undefined)[] },
): number {
  const { node, fields } = target;
  if (node.index >= 0) {
    const value = readScalar(bytes, at, end);
    if (value === notUnderstood) return -1;
    if (value !== undefined) {
      fields[node.index] = value;
      pathsLeft--;
      if (pathsLeft === 0) return allFound;
    }
  }
  if (node.children.length === 0 || bytes[at] !== openBrace) return skipValue(bytes, at, end);
  /** One bit for each child. A key that occurs twice is left to the parser, for which the last one counts. */
  let seen = 0;
  let position = skipSpace(bytes, at + 1, end);
  if (bytes[position] === closeBrace) return position + 1;
  for (;;) {
    if (bytes[position] !== quote) return -1;
    const keyStart = position + 1;
    const keyEnd = skipKey(bytes, position, end) - 1;
    if (keyEnd < 0) return -1;
    position = afterColon(bytes, keyEnd + 1, end);
    if (position < 0) return -1;
    const which = childIndex(node, bytes, keyStart, keyEnd);
    const child = which < 0 ? undefined : node.children[which];
    let next: number;
    if (child === undefined) next = skipValue(bytes, position, end);
    else {
      const bit = 1 << which;
      if (which > mostChildren || (seen & bit) !== 0) return -1;
      seen |= bit;
      next = scanFields(bytes, position, end, { node: child, fields });
    }
    if (next < 0) return next;
    position = skipSpace(bytes, next, end);
    if (bytes[position] === closeBrace) return position + 1;
    if (bytes[position] !== comma) return -1;
    position = skipSpace(bytes, position + 1, end);
  }
}

/** Nodes with more children are left to the parser: {@link scanFields} has a bit for each that it has seen. */
export const mostChildren = 30;
const notUnderstood = Symbol('not understood');

/**
 * Returns a string, number or boolean as a string, as field selectors compare it and as `fieldAt` returns it for the
 * parsed value; undefined for anything else.
 */
function readScalar(bytes: Uint8Array, at: number, end: number): string | undefined | typeof notUnderstood {
  const first = bytes[at];
  if (first === openBrace || first === openBracket) return undefined;
  const next = skipValue(bytes, at, end);
  if (next < 0) return notUnderstood;
  const text = readText(bytes, at, next);
  if (first === quote && !text.includes('\\')) {
    if (next >= fieldsReadTo) fieldsReadTo = next + 1;
    return text.slice(1, -1);
  }
  if (text === 'null') return undefined;
  if (next >= fieldsReadTo) fieldsReadTo = next + 1;
  return plainInteger.test(text) ? text : parsedScalar(text);
}

/** An integer that is written as JavaScript writes it; 15 digits are never rounded. */
const plainInteger = /^(?:0|-?[1-9]\d{0,14})$/;

/** Any other way to write a scalar: `1.0` and `1e0` are the number 1, and integers beyond 2^53 stay exact. */
function parsedScalar(text: string): string | typeof notUnderstood {
  try {
    return String(parseJson(text));
  } catch {
    return notUnderstood;
  }
}
