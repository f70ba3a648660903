import type { Kind, KubeObject } from '@kctl/apimachinery';
import { formatKey, parseJson } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import {
  asBuffer,
  createObjectScan,
  createWatchFrameScan,
  FrameError,
  isFrameError,
  readAscii,
  readText,
  scanBodyFields,
  scanObject,
  scanWatchFrame,
  skipSpace,
} from '@kctl/apimachinery/internal/wire';
import type { StoredObject } from '@kctl/cache-index';
import { AlikeParser } from '../bytes/alike-parser.js';
import type { DecodedFrame, DecodedItem, Decoder, FindStored, VersionIdentity } from './decoder.js';
import {
  clearFrame,
  clearItem,
  createDecodedFrame,
  createDecodedItem,
  initialEventsEnd,
  settleFrame,
  statusOf,
  unreadableStatus,
} from './decoder.js';
import { Envelope } from '../bytes/envelope.js';
import type { LazyContext, ObjectType } from '../bytes/lazy-object.js';
import { LazyObject, leadsToType, noteWords } from '../bytes/lazy-object.js';
import type { DecoderOptions, Purpose } from './parsed-decoder.js';
import { isSameVersion, ParsedDecoder, shareableOf } from './parsed-decoder.js';
import { unknownType } from './unknown-type.js';
import type { CompactStorage } from '../bytes/storage.js';
import { CompactStore } from '../bytes/compact-store.js';
import type { ByteStore, SlabRange } from '../bytes/slab-store.js';
import { SlabStore } from '../bytes/slab-store.js';
import { TextCache } from '../bytes/text-cache.js';

/** Options of {@link ByteDecoder}. */
export interface ByteDecoderOptions<T extends KubeObject> extends DecoderOptions<T> {
  /** The store's field paths at this time. */
  readonly fieldPaths: () => FieldPaths | undefined;
  /** Compression of bytes; undefined if they are not compressed. */
  readonly compact?: CompactStorage | undefined;
}

/**
 * Decodes bytes, lazily. Copies the bytes to keep and reads only the fields needed for routing. Only applies if the
 * bytes are as API servers write them and a parse would give the same result, as far as they are scanned; anything else
 * is parsed, and accepted or refused as a parsed object is. A key that occurs again behind the scanned part is found
 * when the object is read (see {@link LazyObject}).
 */
export class ByteDecoder<T extends KubeObject> implements Decoder<T, Uint8Array> {
  readonly slabs: ByteStore;
  readonly #options: ByteDecoderOptions<T>;
  readonly #parsed: ParsedDecoder<T>;
  readonly #context: LazyContext;
  /** Types that objects may state. */
  readonly #types: readonly TypeBytes[];
  readonly #metadataOnly: MetadataOnly | undefined;
  readonly #scan = createObjectScan();
  readonly #frameScan = createWatchFrameScan();
  readonly #item: DecodedItem<T> = createDecodedItem<T>();
  readonly #frame: DecodedFrame<T> = createDecodedFrame<T>();
  readonly #namespaces = new TextCache();
  #paths: FieldPaths | undefined;
  /** Distinguishes notes on one set of paths from those on another. */
  #pathsEpoch = 0;
  #pathsLeadIntoBody = false;
  #pathsLeadToType = false;

  constructor(options: ByteDecoderOptions<T>) {
    this.#options = options;
    const { freeze, onSkip, compact } = options;
    this.slabs = compact === undefined ? new SlabStore(noteWords) : new CompactStore({ noteWords, ...compact });
    this.#parsed = new ParsedDecoder(options);
    const { type, types } = this.#parsed.acceptance;
    this.#types = types.map(bytesOfType);
    this.#metadataOnly = isMetadataOnly(options.kind) ? new MetadataOnly() : undefined;
    this.#context = {
      slabs: this.slabs,
      keepsBytes: compact !== undefined,
      envelope: new Envelope(type),
      type,
      freeze,
      parser: new AlikeParser(),
      fieldPaths: () => {
        this.#notePaths();
        return { paths: this.#paths, epoch: this.#pathsEpoch };
      },
      onUnreadable: (error) =>
        onSkip({ reason: 'unreadable', message: 'an object cannot be read', error, key: error.key }),
    };
  }

  item(raw: Uint8Array, find: FindStored<T>): DecodedItem<T> {
    const item = this.#item;
    clearItem(item);
    try {
      const start = skipSpace(raw, 0, raw.length);
      this.#decode({ bytes: raw, start, end: raw.length, find, isLive: false, isDelete: false }, item);
    } catch (error) {
      if (!isFrameError(error)) throw error;
      clearItem(item);
      item.failed = this.#identityIn(raw);
      item.isUnreadable = item.failed === undefined;
      const key = item.failed === undefined ? {} : { key: formatKey(item.failed) };
      this.#options.onSkip({ reason: 'unreadable', message: 'an item of a list cannot be read', error, ...key });
    }
    return item;
  }

  frame(raw: Uint8Array, find: FindStored<T>, isLive: boolean): DecodedFrame<T> {
    const frame = this.#frame;
    clearFrame(frame);
    const scan = this.#frameScan;
    if (!scanWatchFrame(raw, scan)) return this.#parsedFrame(raw, find);
    const { objectStart: start, objectEnd: end } = scan;
    switch (scan.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const isDelete = scan.type === 'DELETED';
        frame.isAdded = scan.type === 'ADDED';
        this.#decode({ bytes: raw, start, end, isLive, find, isDelete }, frame);
        return settleFrame(frame, isDelete);
      }
      case 'BOOKMARK':
        return this.#bookmark(parse('a bookmark', raw, start, end));
      case 'ERROR':
        return this.#error(raw, start, end);
      case '':
        return this.#parsedFrame(raw, find);
    }
  }

  retire(stored: StoredObject<T>): void {
    if (stored instanceof LazyObject) this.slabs.release(stored);
  }

  #decode(span: Span<T>, into: DecodedItem<T>): void {
    const scan = this.#scan;
    const { find, isDelete } = span;
    this.#notePaths();
    if (this.#options.transform !== undefined || this.#pathsLeadToType || !this.#scanObject(span)) {
      this.#parse(span, into);
      return;
    }
    const { bytes, start, end } = this.#metadataOnly?.reduce(span, scan) ?? span;
    const namespace =
      scan.namespaceStart < 0 ? '' : this.#namespaces.read(bytes, scan.namespaceStart, scan.namespaceEnd);
    const name = readAscii(bytes, scan.nameStart, scan.nameEnd);
    const resourceVersion =
      scan.resourceVersionStart < 0 ? '' : readAscii(bytes, scan.resourceVersionStart, scan.resourceVersionEnd);
    const present = isDelete ? undefined : find(namespace, name);
    into.present = present;
    if (present !== undefined && isSameVersion(present, resourceVersion)) {
      into.stored = present;
      return;
    }
    const fieldsEnd = isDelete ? unknown : this.#readFields({ bytes, start, end, isLive: span.isLive }, into);
    if (fieldsEnd === notUnderstood) {
      this.#parse(span, into);
      return;
    }
    const cut = !this.#options.keepManagedFields && scan.managedFieldsStart >= 0;
    const range: SlabRange = {
      start,
      end,
      cutStart: cut ? scan.managedFieldsStart : end,
      cutEnd: cut ? scan.managedFieldsEnd : end,
    };
    into.stored = new LazyObject<T>(
      this.#context,
      // The name that exists already, so the new string can be collected at once.
      { namespace, name: present === undefined ? name : present.name, resourceVersion },
      { bytes, range, scan, fieldsEnd, fieldsEpoch: this.#pathsEpoch },
      shareableOf(present),
    );
  }

  /** Whether the bytes are an object of this kind, as far as they can be understood without a parse. */
  #scanObject({ bytes, start, end }: Span<T>): boolean {
    const scan = this.#scan;
    if (!scanObject(bytes, start, end, { scan })) return false;
    if (scan.kindStart < 0) return true;
    for (const { kind, apiVersion } of this.#types)
      if (
        isRange(bytes, scan.kindStart, scan.kindEnd, kind) &&
        isRange(bytes, scan.apiVersionStart, scan.apiVersionEnd, apiVersion)
      )
        return true;
    return false;
  }

  /** The identity of an object whose bytes are not JSON, if its metadata is well-formed. */
  #identityIn(bytes: Uint8Array): VersionIdentity | undefined {
    const scan = this.#scan;
    if (!scanObject(bytes, skipSpace(bytes, 0, bytes.length), bytes.length, { scan })) return undefined;
    const text = (start: number, end: number): string => (start < 0 ? '' : readAscii(bytes, start, end));
    return {
      namespace: text(scan.namespaceStart, scan.namespaceEnd),
      name: text(scan.nameStart, scan.nameEnd),
      uid: text(scan.uidStart, scan.uidEnd),
      resourceVersion: text(scan.resourceVersionStart, scan.resourceVersionEnd),
    };
  }

  #notePaths(): void {
    const paths = this.#options.fieldPaths();
    if (paths === this.#paths) return;
    this.#paths = paths;
    this.#pathsEpoch++;
    this.#pathsLeadIntoBody = paths !== undefined && leadIntoBody(paths);
    this.#pathsLeadToType = paths !== undefined && leadsToType(paths);
  }

  /**
   * Finds the values of the store's field paths, without reading bytes that equal those of the previous version,
   * because most updates change the status and leave the spec alone. Returns the end of the bytes that decide the
   * values.
   */
  #readFields({ bytes, start, end, isLive }: LiveRange, into: DecodedItem<T>): number {
    const scan = this.#scan;
    const paths = this.#paths;
    if (paths === undefined) return unknown;
    if (!scan.isMetadataFirst || !this.#pathsLeadIntoBody) {
      if (!scanObject(bytes, start, end, { scan, paths })) return notUnderstood;
      into.fields = [...scan.fields];
      return unknown;
    }
    const { present } = into;
    if (isLive && present instanceof LazyObject) {
      const length = present.sameFieldsLength(bytes, scan.metadataEnd, end, this.#pathsEpoch);
      if (length >= 0) {
        into.hasPresentFields = true;
        return scan.metadataEnd + length;
      }
    }
    const fieldsEnd = scanBodyFields(bytes, end, { scan, paths });
    into.fields = [...scan.fields];
    return fieldsEnd;
  }

  /** The way of objects that a transform has to see, or whose bytes are not what API servers write. */
  #parse({ bytes, start, end, find, isDelete }: Span<T>, into: DecodedItem<T>): void {
    clearItem(into);
    this.#parsed.decode(parse('an object', bytes, start, end), { find, isDelete }, into);
  }

  /** The way of frames with escape sequences in their keys, and of what is not a frame. */
  #parsedFrame(raw: Uint8Array, find: FindStored<T>): DecodedFrame<T> {
    const frame = this.#frame;
    const value = parse('a watch frame', raw, 0, raw.length);
    // An unreadable frame may have been a change, so the stream ends, and its content is requested again.
    if (!isJsonObject(value) || typeof value['type'] !== 'string' || !('object' in value))
      throw new FrameError('a watch frame is not {"type":…,"object":…}');
    const { type, object } = value;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED': {
        const isDelete = type === 'DELETED';
        frame.isAdded = type === 'ADDED';
        this.#parsed.decode(object, { find, isDelete }, frame);
        return settleFrame(frame, isDelete);
      }
      case 'BOOKMARK':
        return this.#bookmark(object);
      case 'ERROR':
        frame.kind = 'error';
        frame.status = statusOf(object);
        return frame;
      default:
        throw new FrameError(unknownType({ type }));
    }
  }

  #bookmark(value: unknown): DecodedFrame<T> {
    const frame = this.#frame;
    if (!isJsonObject(value) || !isJsonObject(value['metadata'])) throw new FrameError('a bookmark has no metadata');
    // The end of the initial events of another kind is irrelevant for this one.
    const other = this.#parsed.acceptance.otherType(value);
    if (other !== undefined) throw new FrameError(`a bookmark is a ${other}`);
    const { annotations, resourceVersion } = value['metadata'];
    const isEnd = isJsonObject(annotations) && annotations[initialEventsEnd] === 'true';
    frame.kind = isEnd ? 'initial-end' : 'bookmark';
    frame.resourceVersion = typeof resourceVersion === 'string' ? resourceVersion : '';
    return frame;
  }

  #error(raw: Uint8Array, start: number, end: number): DecodedFrame<T> {
    const frame = this.#frame;
    frame.kind = 'error';
    try {
      frame.status = statusOf(parseJson(readText(raw, start, end)));
    } catch {
      frame.status = unreadableStatus(`an ERROR event that is not JSON (${end - start} bytes)`);
    }
    return frame;
  }
}

/** @throws FrameError if the range is not JSON; the error does not quote it */
function parse(what: string, bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return parseJson(readText(bytes, start, end));
  } catch (cause) {
    throw new FrameError(`${what} is not JSON`, { cause });
  }
}

/** Bytes of an object. */
interface Range {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

interface LiveRange extends Range {
  /** Whether what is decoded replaces what `find` finds, in the same store. */
  readonly isLive: boolean;
}

interface Span<T extends KubeObject> extends LiveRange, Purpose<T> {}

/** Bound of the fields if unknown, or if the bytes are not understood. */
const unknown = -1;
const notUnderstood = -2;

/** Whether all paths lead to what follows `metadata`. */
function leadIntoBody(paths: FieldPaths): boolean {
  // Compared by their first letters, because a path that is wrongly taken for one of these only costs a longer scan.
  return paths.paths.every((path) => !/^(?:metadata|ki|api)/.test(path));
}

function isMetadataOnly(kind: Kind): boolean {
  return kind.shape === 'metadata';
}

interface TypeBytes {
  readonly kind: Buffer;
  readonly apiVersion: Buffer;
}

function bytesOfType({ kind, apiVersion }: ObjectType): TypeBytes {
  return { kind: Buffer.from(kind), apiVersion: Buffer.from(apiVersion) };
}

/** Whether a range is exactly these bytes. */
function isRange(bytes: Uint8Array, start: number, end: number, expected: Uint8Array): boolean {
  if (end - start !== expected.length) return false;
  for (let index = 0; index < expected.length; index++) if (bytes[start + index] !== expected[index]) return false;
  return true;
}

const metadataOpens = Buffer.from('{"metadata":');
const metadataCloses = Buffer.from('}');

/** Removes the rest of objects of which only the metadata is requested, even if a server sends them whole. */
class MetadataOnly {
  #scratch = Buffer.alloc(4096);

  constructor() {
    metadataOpens.copy(this.#scratch);
  }

  /** An object that has nothing but the metadata, valid until the next one; `scan` is then about that. */
  reduce({ bytes }: Range, scan: ReturnType<typeof createObjectScan>): Range {
    const { metadataStart, metadataEnd } = scan;
    const end = metadataOpens.length + metadataEnd - metadataStart + metadataCloses.length;
    if (end > this.#scratch.length) {
      this.#scratch = Buffer.alloc(end * 2);
      metadataOpens.copy(this.#scratch);
    }
    const scratch = this.#scratch;
    const closes = asBuffer(bytes).copy(scratch, metadataOpens.length, metadataStart, metadataEnd);
    metadataCloses.copy(scratch, metadataOpens.length + closes);
    scanObject(scratch, 0, end, { scan });
    return { bytes: scratch, start: 0, end };
  }
}
