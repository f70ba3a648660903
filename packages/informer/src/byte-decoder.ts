import type { DeepReadonly, Kind, KubeObject, Status } from '@kctl/apimachinery';
import { parseJson } from '@kctl/apimachinery';
import type { FieldPaths } from '@kctl/apimachinery/wire';
import {
  createObjectScan,
  createWatchFrameScan,
  FrameError,
  readAscii,
  readText,
  scanBodyFields,
  scanObject,
  scanWatchFrame,
} from '@kctl/apimachinery/wire';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index';
import { AlikeParser } from './alike-parser.js';
import type { DecodedFrame, DecodedItem, Decoder, FindStored, SkipReport } from './decoder.js';
import { deletedVersion, initialEventsEnd, lastNotTransformed, notTransformed } from './decoder.js';
import { Envelope } from './envelope.js';
import type { LazyContext } from './lazy-object.js';
import { LazyObject, noteWords } from './lazy-object.js';
import type { SlabRange } from './slab-store.js';
import { SlabStore } from './slab-store.js';
import { TextCache } from './text-cache.js';

/** What {@link ByteDecoder} takes. */
export interface ByteDecoderOptions<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly freeze: boolean;
  readonly keepManagedFields: boolean;
  readonly transform: ((object: T) => T) | undefined;
  /** The store's field paths at this time. */
  readonly fieldPaths: () => FieldPaths | undefined;
  readonly onSkip: SkipReport;
}

/** Decodes bytes, lazily: it copies what has to be kept and reads only what routing needs. */
export class ByteDecoder<T extends KubeObject> implements Decoder<T, Uint8Array> {
  readonly slabs: SlabStore = new SlabStore(noteWords);
  readonly #options: ByteDecoderOptions<T>;
  readonly #type: { readonly apiVersion: string; readonly kind: string };
  readonly #context: LazyContext;
  readonly #scan = createObjectScan();
  readonly #frameScan = createWatchFrameScan();
  readonly #item: DecodedItem<T> = {
    stored: undefined,
    fields: undefined,
    present: undefined,
    hasPresentFields: false,
  };
  readonly #frame: DecodedFrame<T> = {
    kind: 'skipped',
    stored: undefined,
    fields: undefined,
    present: undefined,
    hasPresentFields: false,
    resourceVersion: '',
    status: undefined,
  };
  readonly #namespaces = new TextCache();
  #paths: FieldPaths | undefined;
  /** Tells notes about one set of paths from those about another. */
  #pathsEpoch = 0;
  #pathsLeadIntoBody = false;

  constructor(options: ByteDecoderOptions<T>) {
    this.#options = options;
    const { kind } = options;
    const isMetadata = kind.shape === 'metadata';
    this.#type = isMetadata
      ? { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' }
      : { apiVersion: kind.apiVersion, kind: kind.kind };
    this.#context = {
      slabs: this.slabs,
      envelope: new Envelope(this.#type),
      freeze: options.freeze,
      parser: new AlikeParser(),
    };
  }

  item(raw: Uint8Array, find: FindStored<T>): DecodedItem<T> | undefined {
    this.#decode(raw, { start: 0, end: raw.length, find, isLive: false, isDelete: false }, this.#item);
    return this.#item.stored === undefined ? undefined : this.#item;
  }

  frame(raw: Uint8Array, find: FindStored<T>, isLive: boolean): DecodedFrame<T> {
    const frame = this.#frame;
    frame.kind = 'skipped';
    frame.stored = undefined;
    frame.fields = undefined;
    frame.present = undefined;
    frame.hasPresentFields = false;
    frame.resourceVersion = '';
    const scan = this.#frameScan;
    // What cannot be read may have been a change: the stream ends, and what it said is asked for again.
    if (!scanWatchFrame(raw, scan)) throw new FrameError('a watch frame is not {"type":…,"object":…}');
    const { objectStart: start, objectEnd: end } = scan;
    switch (scan.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        this.#decode(raw, { start, end, isLive, find, isDelete: scan.type === 'DELETED' }, frame);
        if (!hasStored(frame)) return frame;
        frame.resourceVersion = frame.stored.resourceVersion;
        frame.kind = scan.type === 'DELETED' ? 'delete' : 'upsert';
        return frame;
      case 'BOOKMARK':
        return this.#bookmark(readText(raw, start, end));
      case 'ERROR':
        return this.#error(readText(raw, start, end));
      case '':
        throw new FrameError('a watch frame is of an unknown type');
    }
  }

  retire(stored: StoredObject<T>): void {
    if (stored instanceof LazyObject) this.slabs.release(stored);
  }

  #decode(bytes: Uint8Array, span: Span<T>, into: DecodedItem<T>): void {
    const scan = this.#scan;
    const { start, end, find, isDelete } = span;
    into.stored = undefined;
    into.fields = undefined;
    into.present = undefined;
    into.hasPresentFields = false;
    if (this.#options.transform !== undefined || !scanObject(bytes, start, end, { scan })) {
      this.#parse(bytes, span, into);
      return;
    }
    const namespace =
      scan.namespaceStart < 0 ? '' : this.#namespaces.read(bytes, scan.namespaceStart, scan.namespaceEnd);
    const name = readAscii(bytes, scan.nameStart, scan.nameEnd);
    const resourceVersion =
      scan.resourceVersionStart < 0 ? '' : readAscii(bytes, scan.resourceVersionStart, scan.resourceVersionEnd);
    const present = isDelete ? undefined : find(namespace, name);
    into.present = present;
    if (present !== undefined && present.resourceVersion === resourceVersion && resourceVersion !== '') {
      into.stored = present;
      return;
    }
    const fieldsEnd = isDelete ? unknown : this.#readFields(bytes, span, into);
    if (fieldsEnd === notUnderstood) {
      this.#parse(bytes, span, into);
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
      // The name that is there already: the new text can go at once, and nothing of it lives on.
      { namespace, name: present === undefined ? name : present.name, resourceVersion },
      { bytes, range, scan, fieldsEnd, fieldsEpoch: this.#pathsEpoch },
      shareableOf(present),
    );
  }

  /**
   * Finds the values of the store's field paths, without reading what is byte for byte as it was in the version before:
   * most updates change the status and leave the spec alone. Returns up to where the bytes decide the values.
   */
  #readFields(bytes: Uint8Array, { start, end, isLive }: Span<T>, into: DecodedItem<T>): number {
    const scan = this.#scan;
    const paths = this.#options.fieldPaths();
    if (paths !== this.#paths) {
      this.#paths = paths;
      this.#pathsEpoch++;
      this.#pathsLeadIntoBody = paths !== undefined && leadIntoBody(paths);
    }
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

  /** The way of objects that a transform has to see, or that the scanner does not understand. */
  #parse(bytes: Uint8Array, { start, end, find, isDelete }: Span<T>, into: DecodedItem<T>): void {
    const { transform, keepManagedFields, freeze, onSkip } = this.#options;
    into.stored = undefined;
    into.fields = undefined;
    into.hasPresentFields = false;
    const value = parseFrame('an object', readText(bytes, start, end), parseJson);
    if (!isObject(value)) {
      onSkip('an object has no metadata.name');
      return;
    }
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = value.metadata;
    try {
      const present = isDelete ? undefined : find(namespace, name);
      into.present = present;
      if (present !== undefined && present.resourceVersion === resourceVersion && resourceVersion !== '') {
        into.stored = present;
        return;
      }
      const kept = keepManagedFields ? value : dropManagedFields(value);
      const named = 'kind' in kept ? kept : { ...this.#type, ...kept };
      const object = transform === undefined ? (named as T) : transform(named as T);
      into.stored = storeObject<T>(object, { freeze, previous: shareableOf(present) });
    } catch (error) {
      onSkip(isDelete ? lastNotTransformed : notTransformed, error);
      if (isDelete)
        into.stored = deletedVersion({ namespace, name, uid, resourceVersion }, find(namespace, name), freeze);
    }
  }

  #bookmark(text: string): DecodedFrame<T> {
    const frame = this.#frame;
    const value = parseFrame('a bookmark', text, JSON.parse);
    if (isMetadataHolder(value)) {
      frame.kind = value.metadata.annotations?.[initialEventsEnd] === 'true' ? 'initial-end' : 'bookmark';
      frame.resourceVersion = value.metadata.resourceVersion ?? '';
    }
    return frame;
  }

  #error(text: string): DecodedFrame<T> {
    const frame = this.#frame;
    frame.kind = 'error';
    try {
      frame.status = JSON.parse(text) as Status;
    } catch {
      frame.status = { kind: 'Status', status: 'Failure', code: 500, reason: 'InternalError', message: text };
    }
    return frame;
  }
}

function parseFrame(what: string, text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new FrameError(`${what} is not JSON`, { cause });
  }
}

interface Span<T extends KubeObject> {
  readonly start: number;
  readonly end: number;
  readonly find: FindStored<T>;
  /** Whether what is decoded replaces what `find` finds, in the same store. */
  readonly isLive: boolean;
  /** Whether it is of a deletion: what `find` finds is no version before it. */
  readonly isDelete: boolean;
}

/** What bounds the fields: not known, or the bytes are not understood. */
const unknown = -1;
const notUnderstood = -2;

/** Whether all paths lead to what follows `metadata`. */
function leadIntoBody(paths: FieldPaths): boolean {
  // By their first letters: a path that is wrongly taken for one of these costs a longer scan, no more.
  return paths.paths.every((path) => !/^(?:metadata|ki|api)/.test(path));
}

function hasStored<T extends KubeObject>(
  frame: DecodedFrame<T>,
): frame is DecodedFrame<T> & { stored: StoredObject<T> } {
  return frame.stored !== undefined;
}

/** The parsed form of a version, where there is one: what a new version shares structure with. */
export function shareableOf<T extends KubeObject>(stored: StoredObject<T> | undefined): DeepReadonly<T> | undefined {
  if (stored instanceof LazyObject) return (stored as LazyObject<T>).shareable;
  return stored?.object;
}

/** The object without its managedFields; the given one is left alone. */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Whether a value has metadata. */
export function isMetadataHolder(value: unknown): value is KubeObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    'metadata' in value &&
    typeof value.metadata === 'object' &&
    value.metadata !== null
  );
}

/** Whether a value is an object that a store can hold. */
export function isObject(value: unknown): value is KubeObject {
  return isMetadataHolder(value) && typeof value.metadata.name === 'string' && value.metadata.name !== '';
}
