import { isText, openBrace, openBracket, skipContainer, skipSpace } from './skip.js';
import { asBuffer } from './text.js';

/**
 * The end of `"object"`, which is in any frame of a watch. Beyond its usual place it is in a string or a schema, or
 * belongs to a second frame.
 */
const objectKeyEnd = [...Buffer.from('ject"')];
/** Its rarest letter, because a search for one byte costs a fraction of a search for several. */
const rareLetter = 0x6a;
/** Behind the place of that in `{"type":"MODIFIED","object":`. */
const usualPlace = 24;
/** Lines with more of that letter are walked, because they are rare and the searches would add up. */
const mostTries = 32;

/**
 * The frames of one line of a watch. Servers write one to a line; a proxy that joins lines must not cost an event. An
 * incomplete rest is returned unchanged, last. A line of one frame costs a few native searches.
 */
export function framesOfLine(line: Uint8Array): readonly Uint8Array[] {
  return isOneFrame(line) ? [line] : splitDocuments(line);
}

/** Reports whether a line is certainly a single frame; if false, {@link framesOfLine} decides. */
export function isOneFrame(line: Uint8Array): boolean {
  const bytes = asBuffer(line);
  let tries = 0;
  for (let at = bytes.indexOf(rareLetter, usualPlace); at >= 0; at = bytes.indexOf(rareLetter, at + 1))
    if (++tries > mostTries || isText(bytes, at, objectKeyEnd)) return false;
  return true;
}

/**
 * Cuts bytes into the JSON objects and arrays that they consist of. A rest that is neither is returned unchanged, last.
 */
export function splitDocuments(bytes: Uint8Array): Uint8Array[] {
  const documents: Uint8Array[] = [];
  const end = bytes.length;
  let start = skipSpace(bytes, 0, end);
  while (start < end) {
    const isContainer = bytes[start] === openBrace || bytes[start] === openBracket;
    const next = isContainer ? skipContainer(bytes, start, end) : -1;
    documents.push(bytes.subarray(start, next < 0 ? end : next));
    if (next < 0) break;
    start = skipSpace(bytes, next, end);
  }
  return documents;
}
