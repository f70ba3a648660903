import type { FieldPaths } from './field-paths.js';
import { childOf, scanFields } from './scan-fields.js';
import {
  afterColon,
  closeBrace,
  comma,
  openBrace,
  openBracket,
  quote,
  skipFlatArray,
  skipSpace,
  skipString,
  skipValue,
} from './skip.js';

/**
 * Where the parts of one object lie in its bytes: offsets from the start of the buffer, −1 where the object has no such
 * part. Ranges of strings exclude the quotes. One instance is meant to be reused for a whole stream.
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
  /** Right after the value of `metadata`. */
  metadataEnd: number;
  /** Whether `metadata` comes first, but for kind and apiVersion: so from every server. */
  isMetadataFirst: boolean;
  /** Whether the object says its `kind` (items of built-in lists do not). */
  hasKind: boolean;
  /** Values of the declared paths, in the order of their declaration; undefined where the object has none. */
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
  scan.metadataEnd = -1;
  scan.isMetadataFirst = true;
  scan.hasKind = false;
  scan.fields.length = 0;
}

/**
 * Finds the parts of the object whose bytes are `bytes[start..end)`. Key order does not matter. It reads no further than
 * it has to: up to the end of `metadata`, or to the last declared path. It does not validate what it skips.
 *
 * @returns false where the bytes are not an object that it understands (no metadata, no name, an escape in a key or in
 * an identity, a broken bracket): the caller parses instead
 */
export function scanObject(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: { readonly scan: ObjectScan; readonly paths?: FieldPaths | undefined },
): boolean {
  const { scan, paths } = target;
  clear(scan);
  let open = paths === undefined ? 0 : paths.paths.length;
  if (paths !== undefined) for (let index = 0; index < open; index++) scan.fields.push(undefined);
  let position = skipSpace(bytes, start, end);
  if (bytes[position] !== openBrace) return false;
  let hasMetadata = false;
  position++;
  for (;;) {
    position = skipSpace(bytes, position, end);
    if (bytes[position] === closeBrace) break;
    if (bytes[position] !== quote) return false;
    const keyStart = position + 1;
    const keyEnd = skipString(bytes, position, end) - 1;
    if (keyEnd < 0) return false;
    position = afterColon(bytes, keyEnd + 1, end);
    if (position < 0) return false;
    let next: number;
    if (keyEnd - keyStart === 8 && isMetadata(bytes, keyStart)) {
      next = scanMetadata(bytes, position, end, scan);
      if (next < 0) return false;
      hasMetadata = true;
      scan.metadataEnd = next;
      const node = open === 0 ? undefined : childOf(paths?.root, bytes, keyStart, keyEnd);
      if (node !== undefined) open -= scanFields(bytes, position, next, { node, fields: scan.fields });
    } else {
      if (keyEnd - keyStart === 4 && bytes[keyStart] === 0x6b && bytes[keyStart + 1] === 0x69) scan.hasKind = true;
      else if (!hasMetadata && !isApiVersion(bytes, keyStart, keyEnd)) scan.isMetadataFirst = false;
      const node = open === 0 ? undefined : childOf(paths?.root, bytes, keyStart, keyEnd);
      if (node !== undefined) open -= scanFields(bytes, position, end, { node, fields: scan.fields });
      if (hasMetadata && open === 0 && scan.hasKind) break;
      next = skipValue(bytes, position, end);
      if (next < 0) return false;
    }
    if (hasMetadata && open === 0 && (scan.hasKind || next >= end)) break;
    if (hasMetadata && open === 0 && !scan.hasKind) {
      scan.hasKind = kindFollows(bytes, next, end);
      break;
    }
    position = skipSpace(bytes, next, end);
    if (bytes[position] === comma) position++;
    else if (bytes[position] !== closeBrace) return false;
  }
  return hasMetadata && scan.nameStart >= 0;
}

/** Objects say their kind before their metadata (`apiVersion`, `kind` < `metadata`, and so in struct order), so a later one is rare. */
function kindFollows(bytes: Uint8Array, from: number, end: number): boolean {
  let position = skipSpace(bytes, from, end);
  while (bytes[position] === comma) {
    position = skipSpace(bytes, position + 1, end);
    if (bytes[position] !== quote) return false;
    const keyStart = position + 1;
    // Items of built-in lists go on with spec, status or data: one look is enough to know that no kind comes.
    if (bytes[keyStart] !== 0x6b && bytes[keyStart] !== 0x61) return false;
    const keyEnd = skipString(bytes, position, end) - 1;
    if (keyEnd < 0) return false;
    if (keyEnd - keyStart === 4 && bytes[keyStart] === 0x6b && bytes[keyStart + 1] === 0x69) return true;
    const value = afterColon(bytes, keyEnd + 1, end);
    if (value < 0) return false;
    const next = skipValue(bytes, value, end);
    if (next < 0) return false;
    position = skipSpace(bytes, next, end);
  }
  return false;
}

function isMetadata(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x6d &&
    bytes[at + 1] === 0x65 &&
    bytes[at + 2] === 0x74 &&
    bytes[at + 3] === 0x61 &&
    bytes[at + 4] === 0x64 &&
    bytes[at + 5] === 0x61 &&
    bytes[at + 6] === 0x74 &&
    bytes[at + 7] === 0x61
  );
}

/** Whether a key is `apiVersion`, as far as its length and its first letters tell. */
function isApiVersion(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 10 && bytes[start] === 0x61 && bytes[start + 1] === 0x70 && bytes[start + 2] === 0x69;
}

/** Scans the metadata object that opens at `at`. Returns the position after it, −1 where it is not understood. */
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
    const keyEnd = skipString(bytes, position, end) - 1;
    if (keyEnd < 0) return -1;
    const value = afterColon(bytes, keyEnd + 1, end);
    if (value < 0) return -1;
    const isManagedFields = keyEnd - keyStart === 13 && bytes[keyStart] === 0x6d && bytes[value] === openBracket;
    const next = isManagedFields ? skipFlatArray(bytes, value, end) : skipValue(bytes, value, end);
    if (next < 0) return -1;
    member.keyStart = keyStart;
    member.keyEnd = keyEnd;
    member.value = value;
    member.next = next;
    if (!noteMember(bytes, scan)) return -1;
    position = skipSpace(bytes, next, end);
    if (position >= end) return -1;
    const hasComma = bytes[position] === comma;
    if (keyEnd - keyStart === 13 && scan.managedFieldsStart === value) {
      scan.managedFieldsStart = previousComma >= 0 ? previousComma : memberStart;
      scan.managedFieldsEnd = previousComma >= 0 || !hasComma ? next : position + 1;
    }
    if (hasComma) previousComma = position++;
    else if (bytes[position] !== closeBrace) return -1;
  }
}

/** The member that {@link noteMember} looks at: one for all, as there are a dozen in each object. */
const member = { keyStart: 0, keyEnd: 0, value: 0, next: 0 };

/** Dispatches by the length and first byte of the key; that pair is unique among the members of ObjectMeta that count. */
function noteMember(bytes: Uint8Array, scan: ObjectScan): boolean {
  const { keyStart, keyEnd, value, next } = member;
  switch (keyEnd - keyStart) {
    case 3: // uid
      if (bytes[keyStart] === 0x75 && bytes[value] === quote) {
        scan.uidStart = value + 1;
        scan.uidEnd = next - 1;
      }
      return true;
    case 4: // name
      if (bytes[keyStart] === 0x6e) {
        if (bytes[value] !== quote) return false;
        scan.nameStart = value + 1;
        scan.nameEnd = next - 1;
        return isPlainText(bytes, value + 1, next - 1);
      }
      return true;
    case 6: // labels
      if (bytes[keyStart] === 0x6c && bytes[value] === openBrace) {
        scan.labelsStart = value;
        scan.labelsEnd = next;
      }
      return true;
    case 9: // namespace
      if (bytes[keyStart] === 0x6e && bytes[value] === quote) {
        scan.namespaceStart = value + 1;
        scan.namespaceEnd = next - 1;
        return isPlainText(bytes, value + 1, next - 1);
      }
      return true;
    case 10: // generation, finalizers
      if (bytes[keyStart] === 0x67) scan.generation = readInteger(bytes, value, next);
      return true;
    case 13: // managedFields
      if (bytes[keyStart] === 0x6d) scan.managedFieldsStart = value;
      return true;
    case 15: // resourceVersion, ownerReferences
      if (bytes[keyStart] === 0x72 && bytes[value] === quote) {
        scan.resourceVersionStart = value + 1;
        scan.resourceVersionEnd = next - 1;
        return isPlainText(bytes, value + 1, next - 1);
      }
      if (bytes[keyStart] === 0x6f && bytes[value] === openBracket) {
        scan.ownersStart = value;
        scan.ownersEnd = next;
      }
      return true;
    case 17: // deletionTimestamp, creationTimestamp
      if (bytes[keyStart] === 0x64 && bytes[value] === quote) {
        scan.deletionTimestampStart = value + 1;
        scan.deletionTimestampEnd = next - 1;
      }
      return true;
    default:
      return true;
  }
}

/** Identities are ASCII without escapes on every server; anything else goes the way of the parser. */
function isPlainText(bytes: Uint8Array, start: number, end: number): boolean {
  for (let position = start; position < end; position++) {
    const byte = bytes[position] ?? 0;
    if (byte === 0x5c || byte >= 0x80) return false;
  }
  return true;
}

function readInteger(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let position = start; position < end; position++) {
    const digit = (bytes[position] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return start === end ? -1 : value;
}
