import { closeBrace, colon, comma, openBrace, quote, skipSpace, skipString, skipValue } from './skip.js';

/** The type of a watch event, and '' for one that is not known. */
export type WatchFrameType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR' | '';

/** Where the object of a watch frame lies. One instance is meant to be reused for a whole stream. */
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
const types: ReadonlyMap<string, WatchFrameType> = new Map(
  (['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const).map((type) => [type, type]),
);

/**
 * Finds the type and the object in the bytes of one `{"type":…,"object":…}` frame. Key order and white space do not
 * matter, but the form that API servers send is found at once, without reading the object.
 *
 * @returns false where the bytes are not such a frame
 */
export function scanWatchFrame(bytes: Uint8Array, scan: WatchFrameScan): boolean {
  return scanUsual(bytes, scan) || scanAny(bytes, scan);
}

function scanUsual(bytes: Uint8Array, scan: WatchFrameScan): boolean {
  if (!startsWith(bytes, 0, prefix)) return false;
  const typeEnd = bytes.indexOf(quote, prefix.length);
  if (typeEnd < 0 || !startsWith(bytes, typeEnd, middle)) return false;
  const objectStart = typeEnd + middle.length;
  let last = bytes.length - 1;
  while (last > objectStart && (bytes[last] === 0x20 || bytes[last] === 0x0d || bytes[last] === 0x0a)) last--;
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
  position++;
  for (;;) {
    position = skipSpace(bytes, position, end);
    if (bytes[position] === closeBrace) break;
    if (bytes[position] !== quote) return false;
    const keyStart = position + 1;
    const keyEnd = skipString(bytes, position, end) - 1;
    if (keyEnd < 0) return false;
    position = skipSpace(bytes, keyEnd + 1, end);
    if (bytes[position] !== colon) return false;
    position = skipSpace(bytes, position + 1, end);
    const next = skipValue(bytes, position, end);
    if (next < 0) return false;
    if (keyEnd - keyStart === 4 && bytes[keyStart] === 0x74) {
      scan.type = typeOf(bytes, position + 1, next - 1);
      isTyped = true;
    } else if (keyEnd - keyStart === 6 && bytes[keyStart] === 0x6f && bytes[position] === openBrace) {
      scan.objectStart = position;
      scan.objectEnd = next;
    }
    position = skipSpace(bytes, next, end);
    if (bytes[position] === comma) position++;
    else if (bytes[position] !== closeBrace) return false;
  }
  return isTyped && scan.objectStart >= 0;
}

function startsWith(bytes: Uint8Array, at: number, expected: readonly number[]): boolean {
  for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return false;
  return true;
}

/** Reads the type by its length and first byte, so that no string is made for it. */
function typeOf(bytes: Uint8Array, start: number, end: number): WatchFrameType {
  const length = end - start;
  const first = bytes[start];
  if (length === 8 && first === 0x4d) return 'MODIFIED';
  if (length === 5 && first === 0x41) return 'ADDED';
  if (length === 7 && first === 0x44) return 'DELETED';
  return types.get(Buffer.from(bytes.subarray(start, end)).toString('latin1')) ?? '';
}
