import {
  afterColon,
  closeBrace,
  comma,
  isSpace,
  isText,
  openBrace,
  quote,
  skipKey,
  skipSpace,
  skipValue,
} from './skip.js';

/** The type of a watch event, and '' for one that is not known. */
export type WatchFrameType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR' | '';

/** Positions of the parts of a watch frame. One instance is meant to be reused for a whole stream. */
export interface WatchFrameScan {
  type: WatchFrameType;
  objectStart: number;
  objectEnd: number;
}

/** An empty scan. */
export function createWatchFrameScan(): WatchFrameScan {
  return { type: '', objectStart: -1, objectEnd: -1 };
}

/** `{"type":"` */
const prefix = [...Buffer.from('{"type":"')];
/** `","object":` */
const middle = [...Buffer.from('","object":')];
const typeKey = [...Buffer.from('type')];
const objectKey = [...Buffer.from('object')];
const types = (['MODIFIED', 'ADDED', 'DELETED', 'BOOKMARK', 'ERROR'] as const).map((type) => ({
  type,
  text: [...Buffer.from(type)],
}));

/**
 * Finds the type and the object in the bytes of one `{"type":…,"object":…}` frame. Key order and white space do not
 * matter, but the form that API servers send is found at once, without reading the object.
 *
 * @returns false if the bytes are not such a frame, or one with escape sequences or keys that occur twice, in which
 * case the caller parses instead
 */
export function scanWatchFrame(bytes: Uint8Array, scan: WatchFrameScan): boolean {
  return scanUsual(bytes, scan) || scanAny(bytes, scan);
}

function scanUsual(bytes: Uint8Array, scan: WatchFrameScan): boolean {
  if (!isText(bytes, 0, prefix)) return false;
  const typeEnd = bytes.indexOf(quote, prefix.length);
  if (typeEnd < 0 || !isText(bytes, typeEnd, middle)) return false;
  const objectStart = typeEnd + middle.length;
  let last = bytes.length - 1;
  while (last > objectStart && isSpace(bytes[last])) last--;
  if (bytes[objectStart] !== openBrace || bytes[last] !== closeBrace || bytes[last - 1] !== closeBrace) return false;
  scan.type = typeOf(bytes, prefix.length, typeEnd);
  scan.objectStart = objectStart;
  scan.objectEnd = last;
  return true;
}

function scanAny(bytes: Uint8Array, scan: WatchFrameScan): boolean {
  const end = bytes.length;
  scan.type = '';
  scan.objectStart = scan.objectEnd = -1;
  let isTyped = false;
  let position = skipSpace(bytes, 0, end);
  if (bytes[position] !== openBrace) return false;
  position = skipSpace(bytes, position + 1, end);
  for (;;) {
    if (bytes[position] !== quote) return false;
    const keyStart = position + 1;
    const keyEnd = skipKey(bytes, position, end) - 1;
    if (keyEnd < 0) return false;
    position = afterColon(bytes, keyEnd + 1, end);
    if (position < 0) return false;
    const next = skipValue(bytes, position, end);
    if (next < 0) return false;
    if (keyEnd - keyStart === typeKey.length && isText(bytes, keyStart, typeKey)) {
      if (isTyped || bytes[position] !== quote) return false;
      scan.type = typeOf(bytes, position + 1, next - 1);
      isTyped = true;
    } else if (keyEnd - keyStart === objectKey.length && isText(bytes, keyStart, objectKey)) {
      if (scan.objectStart >= 0 || bytes[position] !== openBrace) return false;
      scan.objectStart = position;
      scan.objectEnd = next;
    }
    position = skipSpace(bytes, next, end);
    if (bytes[position] === closeBrace) break;
    if (bytes[position] !== comma) return false;
    position = skipSpace(bytes, position + 1, end);
  }
  return isTyped && scan.objectStart >= 0 && skipSpace(bytes, position + 1, end) === end;
}

/** Compares bytes, so that no string is made for it. */
function typeOf(bytes: Uint8Array, start: number, end: number): WatchFrameType {
  const length = end - start;
  for (const { type, text } of types) if (text.length === length && isText(bytes, start, text)) return type;
  return '';
}
