import { withoutQuote } from '../json-text.js';
import type { ListMeta } from '../object.js';
import { FrameError } from './frame-error.js';
import {
  backslash,
  classOf,
  classOpen,
  classPlain,
  classQuote,
  closeBracket,
  colon,
  comma,
  isSpace,
  openBrace,
  openBracket,
  quote,
  skipFlatArray,
} from './skip.js';

/** The parts of a list answer around its items. */
export interface ListEnvelope {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ListMeta;
}

/** Cuts a list answer into the bytes of its items while it arrives. */
export interface ListSplitter {
  /**
   * Takes the next chunk and returns the items that end in it, in order. An item that lies within one chunk is a view
   * of it, so the chunk belongs to the caller of `push` no more; an item across chunks is a copy.
   *
   * @throws FrameError when brackets do not match
   */
  push(chunk: Uint8Array): Uint8Array[];
  /**
   * The parts around the items, in any position (built-in kinds send `metadata` before `items`, custom resources
   * after).
   *
   * @throws FrameError when the body is not complete
   */
  finish(): ListEnvelope;
}

/** A splitter for one list body. It parses nothing but the envelope. */
export function createListSplitter(): ListSplitter {
  return new StreamingListSplitter();
}

/** Tokens allowed while no item is being read, which are `item` after a comma and `comma-or-end` after an item. */
type Expected = 'item-or-end' | 'item' | 'comma-or-end';

/** State of the scan, which is around the items, between two of them, or inside one. */
type Place = 'envelope' | 'between' | 'item';

class StreamingListSplitter implements ListSplitter {
  #place: Place = 'envelope';
  /** Open brackets around the current byte, in the envelope and within an item apart. */
  #envelopeDepth = 0;
  #itemDepth = 0;
  #inString = false;
  #escaped = false;
  /** The envelope's bytes, with the items cut out. */
  #envelope: number[] = [];
  #stringStart = -1;
  #lastStringIsItems = false;
  /** Whether items were cut out already. */
  #hasItems = false;
  /** Tokens allowed between two items. */
  #expected: Expected = 'item-or-end';
  /** The start of an item that began in an earlier chunk. */
  #carry: Uint8Array[] = [];

  push(chunk: Uint8Array): Uint8Array[] {
    const items: Uint8Array[] = [];
    let position = 0;
    while (position < chunk.length) {
      if (this.#place === 'envelope') position = this.#scanEnvelope(chunk, position);
      else if (this.#place === 'between') position = this.#scanBetween(chunk, position);
      else position = this.#scanItem(chunk, position, items);
    }
    return items;
  }

  finish(): ListEnvelope {
    if (this.#place !== 'envelope' || this.#envelopeDepth !== 0 || this.#envelope.length === 0)
      throw new FrameError('the list ended before its closing brace: the connection was cut or a proxy shortened it');
    const text = Buffer.from(this.#envelope).toString('utf8');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new FrameError('the envelope of the list is not JSON', { cause: withoutQuote(cause) });
    }
    return readEnvelope(value, this.#hasItems);
  }

  #scanEnvelope(chunk: Uint8Array, from: number): number {
    for (let position = from; position < chunk.length; position++) {
      const byte = chunk[position] ?? 0;
      this.#envelope.push(byte);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === backslash) this.#escaped = true;
        else if (byte === quote) this.#endString();
        continue;
      }
      const kind = classOf[byte];
      if (kind === classPlain) continue;
      if (kind === classQuote) {
        this.#inString = true;
        this.#stringStart = this.#envelope.length;
      } else if (kind === classOpen) {
        this.#envelopeDepth++;
        if (byte === openBracket && this.#envelopeDepth === 2 && this.#lastStringIsItems) {
          if (this.#hasItems) throw new FrameError('malformed list: it has items twice');
          this.#hasItems = true;
          this.#expected = 'item-or-end';
          this.#place = 'between';
          return position + 1;
        }
      } else if (--this.#envelopeDepth < 0) throw new FrameError('malformed list: a closing bracket too many');
    }
    return chunk.length;
  }

  #endString(): void {
    this.#inString = false;
    this.#lastStringIsItems = this.#envelopeDepth === 1 && this.#endsWithItemsKey();
  }

  /** Reports whether the string that has just ended is `items`, even if it is written with escape sequences. */
  #endsWithItemsKey(): boolean {
    const envelope = this.#envelope;
    const start = this.#stringStart;
    const end = envelope.length - 1;
    if (end - start === itemsKey.length && itemsKey.every((byte, index) => envelope[start + index] === byte))
      return true;
    // The longest way to write it, with each letter as \\u0000.
    if (end - start <= itemsKey.length || end - start > itemsKey.length * 6) return false;
    if (!envelope.includes(backslash, start)) return false;
    try {
      return JSON.parse(Buffer.from(envelope.slice(start - 1)).toString()) === 'items';
    } catch {
      // No JSON: the envelope is refused as a whole.
      return false;
    }
  }

  #scanBetween(chunk: Uint8Array, from: number): number {
    for (let position = from; position < chunk.length; position++) {
      const byte = chunk[position] ?? 0;
      if (isSpace(byte)) continue;
      if (this.#expected === 'comma-or-end' ? byte === comma : byte === openBrace) {
        if (byte === openBrace) {
          this.#place = 'item';
          this.#itemDepth = 0;
          return position;
        }
        this.#expected = 'item';
      } else if (byte === closeBracket && this.#expected !== 'item') {
        this.#envelope.push(closeBracket);
        this.#envelopeDepth--;
        this.#lastStringIsItems = false;
        this.#place = 'envelope';
        return position + 1;
      } else
        throw new FrameError(
          this.#expected === 'comma-or-end'
            ? 'malformed list: expected , or ] after an item'
            : 'malformed list: an item is not an object',
        );
    }
    return chunk.length;
  }

  #scanItem(chunk: Uint8Array, from: number, items: Uint8Array[]): number {
    const end = chunk.length;
    let depth = this.#itemDepth;
    let position = from;
    if (this.#inString) position = this.#resumeString(chunk, position);
    for (; position < end; position++) {
      const kind = classOf[chunk[position] ?? 0];
      if (kind === classPlain) continue;
      if (kind === classQuote) {
        const open = position;
        for (position++; position < end; position++) {
          const byte = chunk[position];
          if (byte === quote) break;
          if (byte === backslash) position++;
        }
        if (position >= end) {
          this.#inString = true;
          this.#escaped = position > end;
        } else if (depth === 2 && position - open === managedFieldsQuoted && opensArray(chunk, open, position)) {
          const next = skipFlatArray(chunk, position + 2, end);
          if (next > 0) position = next - 1;
        }
      } else if (kind === classOpen) depth++;
      else if (--depth === 0) {
        items.push(this.#takeItem(chunk.subarray(from, position + 1)));
        this.#expected = 'comma-or-end';
        this.#place = 'between';
        return position + 1;
      }
    }
    this.#itemDepth = depth;
    this.#carry.push(chunk.subarray(from, end));
    return end;
  }

  /** Goes on in a string that the chunk before left open. */
  #resumeString(chunk: Uint8Array, from: number): number {
    let position = from;
    if (this.#escaped) {
      position++;
      this.#escaped = false;
    }
    for (; position < chunk.length; position++) {
      const byte = chunk[position];
      if (byte === quote) {
        this.#inString = false;
        return position + 1;
      }
      if (byte === backslash) position++;
    }
    this.#escaped = position > chunk.length;
    return position;
  }

  #takeItem(tail: Uint8Array): Uint8Array {
    if (this.#carry.length === 0) return tail;
    const whole = Buffer.concat([...this.#carry, tail]);
    this.#carry = [];
    return whole;
  }
}

/** The distance between the quotes of `"managedFields"`, which is a third of most items and need not be walked. */
const managedFieldsQuoted = 14;

/** Reports whether the bytes between two quotes begin as `managedFields` does, and are the key of an array. */
function opensArray(chunk: Uint8Array, open: number, close: number): boolean {
  return chunk[open + 1] === 0x6d && chunk[close + 1] === colon && chunk[close + 2] === openBracket;
}

const itemsKey = [...Buffer.from('items')];

/** `hasItems`: items were cut out, so that an empty array is left of them. */
function readEnvelope(value: unknown, hasItems: boolean): ListEnvelope {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FrameError('malformed list: not a JSON object');
  const items: unknown = 'items' in value ? value.items : undefined;
  // Taken for an empty list, it would delete whatever its reader holds.
  if (hasItems ? !Array.isArray(items) || items.length > 0 : items !== undefined && items !== null)
    throw new FrameError(
      `malformed list: items is ${hasItems ? 'there twice' : `of type ${typeof items}`}, expected one array`,
    );
  const metadata: unknown = 'metadata' in value ? value.metadata : undefined;
  const text = (key: 'apiVersion' | 'kind'): string | undefined => {
    const field: unknown = key in value ? (value as Record<string, unknown>)[key] : undefined;
    if (field === undefined || field === null || typeof field === 'string') return field ?? undefined;
    throw new FrameError(`malformed list: ${key} is of type ${typeof field}, expected a string`);
  };
  const apiVersion = text('apiVersion');
  const kind = text('kind');
  // So would a Table, a Status or a proxy's own answer.
  if (!('items' in value) && kind?.endsWith('List') !== true)
    throw new FrameError(`the answer is not a list: it has no items${kind === undefined ? '' : ` and is a ${kind}`}`);
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: typeof metadata === 'object' && metadata !== null ? metadata : {},
  };
}
