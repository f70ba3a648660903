import type { ListMeta } from '../object.js';
import { FrameError } from './frame-error.js';
import {
  backslash,
  classClose,
  classOf,
  classOpen,
  classPlain,
  classQuote,
  closeBracket,
  colon,
  openBracket,
  quote,
  skipFlatArray,
} from './skip.js';

/** What surrounds the items of a list answer. */
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
   * What surrounds the items, wherever it stood (built-in kinds send `metadata` before `items`, custom resources after).
   *
   * @throws FrameError when the body is not complete
   */
  finish(): ListEnvelope;
}

/** A splitter for one list body. It parses nothing but the envelope. */
export function createListSplitter(): ListSplitter {
  return new StreamingListSplitter();
}

/** Where the scan is: around the items, between two of them, or inside of one. */
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
      throw new FrameError('the envelope of the list is not JSON', { cause });
    }
    return readEnvelope(value);
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
          this.#place = 'between';
          return position + 1;
        }
      } else if (--this.#envelopeDepth < 0) throw new FrameError('the list has a closing bracket too many');
    }
    return chunk.length;
  }

  #endString(): void {
    this.#inString = false;
    this.#lastStringIsItems =
      this.#envelopeDepth === 1 &&
      this.#envelope.length - 1 - this.#stringStart === itemsKey.length &&
      itemsKey.every((byte, index) => this.#envelope[this.#stringStart + index] === byte);
  }

  #scanBetween(chunk: Uint8Array, from: number): number {
    for (let position = from; position < chunk.length; position++) {
      const kind = classOf[chunk[position] ?? 0];
      if (kind === classOpen) {
        this.#place = 'item';
        this.#itemDepth = 0;
        return position;
      }
      if (kind === classClose) {
        if (chunk[position] !== closeBracket) throw new FrameError('the items of the list end with a brace');
        this.#envelope.push(closeBracket);
        this.#envelopeDepth--;
        this.#lastStringIsItems = false;
        this.#place = 'envelope';
        return position + 1;
      }
      if (kind === classQuote) throw new FrameError('the list has an item that is not an object');
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

/** How far apart the quotes of `"managedFields"` are: a third of most items, which need not be walked. */
const managedFieldsQuoted = 14;

/** Whether the text between two quotes begins as `managedFields` does, and is the key of an array. */
function opensArray(chunk: Uint8Array, open: number, close: number): boolean {
  return chunk[open + 1] === 0x6d && chunk[close + 1] === colon && chunk[close + 2] === openBracket;
}

const itemsKey = [...Buffer.from('items')];

function readEnvelope(value: unknown): ListEnvelope {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FrameError('the list is not a JSON object');
  const metadata: unknown = 'metadata' in value ? value.metadata : undefined;
  const text = (key: 'apiVersion' | 'kind'): string | undefined => {
    const field: unknown = key in value ? (value as Record<string, unknown>)[key] : undefined;
    return typeof field === 'string' ? field : undefined;
  };
  const apiVersion = text('apiVersion');
  const kind = text('kind');
  // Taken for an empty list, a Table, a Status or a proxy's own answer would delete whatever its reader holds.
  if (!('items' in value) && kind?.endsWith('List') !== true)
    throw new FrameError(`the answer is no list: it has no items${kind === undefined ? '' : ` and is a ${kind}`}`);
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: typeof metadata === 'object' && metadata !== null ? metadata : {},
  };
}
