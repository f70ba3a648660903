import type { FieldPaths } from './field-paths.js';
import { allFound, beginFields, childIndex, mostChildren, scanFields } from './scan-fields.js';
import {
  afterColon,
  backslash,
  closeBrace,
  comma,
  isText,
  openBrace,
  openBracket,
  quote,
  skipFlatArray,
  skipKey,
  skipSpace,
  skipValue,
} from './skip.js';
import { asBuffer } from './text.js';

/**
 * Positions of the parts of one object in its bytes, as a parse would find them. They are offsets from the start of the
 * buffer, −1 if the object has no such part. Ranges of strings exclude the quotes. One instance is meant to be reused
 * for a whole stream.
 */
export interface ObjectScan {
  nameStart: number;
  nameEnd: number;
  namespaceStart: number;
  namespaceEnd: number;
  uidStart: number;
  uidEnd: number;
  resourceVersionStart: number;
  resourceVersionEnd: number;
  deletionTimestampStart: number;
  deletionTimestampEnd: number;
  /** −1 if the object has none. */
  generation: number;
  /** The object of labels, with its braces. */
  labelsStart: number;
  labelsEnd: number;
  /** The array of owner references, with its brackets. */
  ownersStart: number;
  ownersEnd: number;
  /** `metadata.managedFields` with the one comma that has to go with it, so that cutting the range leaves valid JSON. */
  managedFieldsStart: number;
  managedFieldsEnd: number;
  /** The object of metadata, with its braces. */
  metadataStart: number;
  metadataEnd: number;
  /** Whether `metadata` comes first, except for kind and apiVersion, as every server sends it. */
  isMetadataFirst: boolean;
  /**
   * The type that the object states; items of built-in lists do not state it. An apiVersion behind everything else is
   * found only with a kind.
   */
  kindStart: number;
  kindEnd: number;
  apiVersionStart: number;
  apiVersionEnd: number;
  /** Values of the declared paths, in the order of their declaration; undefined if the object has none. */
  readonly fields: (string | undefined)[];
}

/** An empty scan. */
export function createObjectScan(): ObjectScan {
  const scan = { fields: [] } as unknown as ObjectScan;
  clear(scan);
  return scan;
}

function clear(scan: ObjectScan): void {
  scan.nameStart = scan.nameEnd = -1;
  scan.namespaceStart = scan.namespaceEnd = -1;
  scan.uidStart = scan.uidEnd = -1;
  scan.resourceVersionStart = scan.resourceVersionEnd = -1;
  scan.deletionTimestampStart = scan.deletionTimestampEnd = -1;
  scan.generation = -1;
  scan.labelsStart = scan.labelsEnd = -1;
  scan.ownersStart = scan.ownersEnd = -1;
  scan.managedFieldsStart = scan.managedFieldsEnd = -1;
  scan.metadataStart = scan.metadataEnd = -1;
  scan.isMetadataFirst = true;
  scan.kindStart = scan.kindEnd = -1;
  scan.apiVersionStart = scan.apiVersionEnd = -1;
  scan.fields.length = 0;
}

/**
 * Finds the parts of the object whose bytes are `bytes[start..end)`. Key order does not matter. It reads no further
 * than necessary, that is, up to the end of `metadata`, or to the last declared path. It does not validate skipped
 * bytes, and does not see a key that occurs again there; see `mayRepeat`.
 *
 * @returns false if the bytes are not an object whose parts are all as API servers write them, for example no metadata
 * or name, a part of another type (null among them), an escape sequence in a key or an identity, a key that occurs
 * twice, a broken bracket. The caller parses instead, and decides by the result.
 */
export function scanObject(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: { readonly scan: ObjectScan; readonly paths?: FieldPaths | undefined },
): boolean {
  const { scan, paths } = target;
  clear(scan);
  if (paths !== undefined) beginFields(paths, scan.fields);
  let hasOpenPaths = paths !== undefined && paths.paths.length > 0;
  /** One bit for each child of the root that was found. A key that occurs twice is left to the parser. */
  let seen = 0;
  let position = skipSpace(bytes, start, end);
  if (bytes[position] !== openBrace) return false;
  position = skipSpace(bytes, position + 1, end);
  for (;;) {
    if (bytes[position] !== quote) return false;
    const keyStart = position + 1;
    const keyEnd = skipKey(bytes, position, end) - 1;
    if (keyEnd < 0) return false;
    const value = afterColon(bytes, keyEnd + 1, end);
    if (value < 0) return false;
    const length = keyEnd - keyStart;
    let next = -1;
    if (length === 8 && isText(bytes, keyStart, metadataKey)) {
      if (scan.metadataEnd >= 0) return false;
      next = scanMetadata(bytes, value, end, scan);
      if (next < 0) return false;
      scan.metadataStart = value;
      scan.metadataEnd = next;
    } else if (length === 4 && isText(bytes, keyStart, kindKey)) {
      next = skipKey(bytes, value, end);
      if (bytes[value] !== quote || next < 0 || scan.kindStart >= 0) return false;
      scan.kindStart = value + 1;
      scan.kindEnd = next - 1;
    } else if (length === 10 && isText(bytes, keyStart, apiVersionKey)) {
      next = skipKey(bytes, value, end);
      if (bytes[value] !== quote || next < 0 || scan.apiVersionStart >= 0) return false;
      scan.apiVersionStart = value + 1;
      scan.apiVersionEnd = next - 1;
    } else if (scan.metadataEnd < 0) scan.isMetadataFirst = false;
    if (hasOpenPaths && paths !== undefined) {
      const which = childIndex(paths.root, bytes, keyStart, keyEnd);
      const node = paths.root.children[which];
      if (node !== undefined) {
        const bit = 1 << which;
        if (which > mostChildren || (seen & bit) !== 0) return false;
        seen |= bit;
        const after = scanFields(bytes, value, end, { node, fields: scan.fields });
        if (after === allFound) hasOpenPaths = false;
        else if (after < 0) return false;
        else next = after;
      }
    }
    const isFound = !hasOpenPaths && scan.metadataEnd >= 0;
    if (isFound && scan.kindStart >= 0 && scan.apiVersionStart >= 0) break;
    if (next < 0) next = skipValue(bytes, value, end);
    if (next < 0) return false;
    // A kind that comes last is in no answer of an API server, but it decides whether the object belongs here.
    if (isFound && scan.kindStart < 0 && scan.apiVersionStart < 0 && !saysKind(bytes, next, end)) break;
    position = skipSpace(bytes, next, end);
    if (bytes[position] === closeBrace) break;
    if (bytes[position] !== comma) return false;
    position = skipSpace(bytes, position + 1, end);
  }
  return scan.nameStart >= 0 && scan.kindStart >= 0 === scan.apiVersionStart >= 0;
}

const metadataKey = [...Buffer.from('metadata')];
const kindKey = [...Buffer.from('kind')];
const apiVersionKey = [...Buffer.from('apiVersion')];
/** The end of the key that states the kind, and the characters it may be written with. */
const kindMark = Buffer.from('kind"');
const escapeMark = Buffer.from('\\u');

/**
 * Reports whether a key that states the kind may follow, at any depth and in any notation. Uses native searches, which
 * most objects pass.
 */
function saysKind(bytes: Uint8Array, from: number, end: number): boolean {
  const rest = asBuffer(end === bytes.length ? bytes : bytes.subarray(0, end));
  if (rest.indexOf(kindMark, from) >= 0) return true;
  return rest.indexOf(backslash, from) >= 0 && rest.indexOf(escapeMark, from) >= 0;
}

/** Scans the metadata object that opens at `at`. Returns the position after it, −1 if it is not understood. */
function scanMetadata(bytes: Uint8Array, at: number, end: number, scan: ObjectScan): number {
  if (bytes[at] !== openBrace) return -1;
  let position = at + 1;
  let previousComma = -1;
  for (;;) {
    position = skipSpace(bytes, position, end);
    if (position >= end) return -1;
    if (bytes[position] === closeBrace) return position + 1;
    if (bytes[position] !== quote) return -1;
    const memberStart = position;
    const keyStart = position + 1;
    const keyEnd = skipKey(bytes, position, end) - 1;
    if (keyEnd < 0) return -1;
    const value = afterColon(bytes, keyEnd + 1, end);
    if (value < 0) return -1;
    member.keyStart = keyStart;
    member.keyEnd = keyEnd;
    member.value = value;
    const next = scanMember(bytes, end, scan);
    if (next < 0) return -1;
    position = skipSpace(bytes, next, end);
    if (position >= end) return -1;
    const hasComma = bytes[position] === comma;
    if (scan.managedFieldsStart === value) {
      scan.managedFieldsStart = previousComma >= 0 ? previousComma : memberStart;
      scan.managedFieldsEnd = previousComma >= 0 || !hasComma ? next : position + 1;
    }
    if (hasComma) previousComma = position++;
    else if (bytes[position] !== closeBrace) return -1;
  }
}

/** The member that {@link scanMember} looks at. One instance for all, because there are a dozen in each object. */
const member = { keyStart: 0, keyEnd: 0, value: 0 };

/** The members of ObjectMeta that count. */
const keys = {
  uid: [...Buffer.from('uid')],
  name: [...Buffer.from('name')],
  labels: [...Buffer.from('labels')],
  namespace: [...Buffer.from('namespace')],
  generation: [...Buffer.from('generation')],
  managedFields: [...Buffer.from('managedFields')],
  resourceVersion: [...Buffer.from('resourceVersion')],
  ownerReferences: [...Buffer.from('ownerReferences')],
  deletionTimestamp: [...Buffer.from('deletionTimestamp')],
} as const;

/**
 * Records the position of a member's value. Returns the position after it; −1 if a parse has to decide its value,
 * because of another type than API servers write, an escape sequence, or a second occurrence. Dispatches by the length
 * of the key.
 */
function scanMember(bytes: Uint8Array, end: number, scan: ObjectScan): number {
  const { keyStart, keyEnd, value } = member;
  let next: number;
  switch (keyEnd - keyStart) {
    case 3:
      if (!isText(bytes, keyStart, keys.uid)) break;
      next = scan.uidStart < 0 ? skipPlainString(bytes, value, end) : -1;
      scan.uidStart = value + 1;
      scan.uidEnd = next - 1;
      return next;
    case 4:
      if (!isText(bytes, keyStart, keys.name)) break;
      next = scan.nameStart < 0 ? skipPlainString(bytes, value, end) : -1;
      scan.nameStart = value + 1;
      scan.nameEnd = next - 1;
      return scan.nameEnd === scan.nameStart ? -1 : next;
    case 6:
      if (!isText(bytes, keyStart, keys.labels)) break;
      if (scan.labelsStart >= 0 || bytes[value] !== openBrace) return -1;
      scan.labelsStart = value;
      return (scan.labelsEnd = skipValue(bytes, value, end));
    case 9:
      if (!isText(bytes, keyStart, keys.namespace)) break;
      next = scan.namespaceStart < 0 ? skipPlainString(bytes, value, end) : -1;
      scan.namespaceStart = value + 1;
      scan.namespaceEnd = next - 1;
      return next;
    case 10:
      if (!isText(bytes, keyStart, keys.generation)) break;
      if (scan.generation >= 0) return -1;
      next = skipValue(bytes, value, end);
      scan.generation = readInteger(bytes, value, next);
      return scan.generation < 0 ? -1 : next;
    case 13:
      if (!isText(bytes, keyStart, keys.managedFields)) break;
      if (scan.managedFieldsStart >= 0 || bytes[value] !== openBracket) return -1;
      scan.managedFieldsStart = value;
      return skipFlatArray(bytes, value, end);
    case 15:
      if (isText(bytes, keyStart, keys.resourceVersion)) {
        next = scan.resourceVersionStart < 0 ? skipPlainString(bytes, value, end) : -1;
        scan.resourceVersionStart = value + 1;
        scan.resourceVersionEnd = next - 1;
        return next;
      }
      if (!isText(bytes, keyStart, keys.ownerReferences)) break;
      if (scan.ownersStart >= 0 || bytes[value] !== openBracket) return -1;
      scan.ownersStart = value;
      return (scan.ownersEnd = skipValue(bytes, value, end));
    case 17:
      if (!isText(bytes, keyStart, keys.deletionTimestamp)) break;
      next = scan.deletionTimestampStart < 0 ? skipPlainString(bytes, value, end) : -1;
      scan.deletionTimestampStart = value + 1;
      scan.deletionTimestampEnd = next - 1;
      return next;
  }
  return skipValue(bytes, value, end);
}

/**
 * The position after the string at `at`; −1 for anything else. Identities are ASCII without escapes on every server;
 * what is not goes the way of the parser.
 */
function skipPlainString(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] !== quote) return -1;
  for (let position = at + 1; position < end; position++) {
    const byte = bytes[position] ?? 0;
    if (byte === quote) return position + 1;
    if (byte === backslash || byte >= 0x80 || byte < 0x20) return -1;
  }
  return -1;
}

/** Digits that are exactly a number, as JSON writes it; −1 for anything else. */
function readInteger(bytes: Uint8Array, start: number, end: number): number {
  if (start === end || (bytes[start] === 0x30 && end - start > 1) || end - start > 15) return -1;
  let value = 0;
  for (let position = start; position < end; position++) {
    const digit = (bytes[position] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
