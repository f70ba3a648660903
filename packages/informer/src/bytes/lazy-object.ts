import { isDeepStrictEqual } from 'node:util';
import type { DeepReadonly, KubeObject, OwnerReference } from '@kctl/apimachinery';
import { formatKey, parseJson } from '@kctl/apimachinery';
import type { FieldPaths, ObjectScan } from '@kctl/apimachinery/internal/wire';
import {
  asBuffer,
  createObjectScan,
  fieldAt,
  headerValues,
  mayRepeat,
  readAscii,
  readText,
  scanObject,
  splitPath,
} from '@kctl/apimachinery/internal/wire';
import type { StoredObject } from '@kctl/cache-index';
import type { AlikeParser } from './alike-parser.js';
import type { Envelope } from './envelope.js';
import { ObjectDecodeError } from '../errors.js';
import type { CompactTenant } from './cold-block.js';
import { ColdBlock } from './cold-block.js';
import type { ByteStore, Slab, SlabRange } from './slab-store.js';
import { WeakObject } from './weak-object.js';

/** The type stated by an object (the group version and kind that its API server writes). */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Context shared by the lazy objects of one informer. */
export interface LazyContext {
  readonly slabs: ByteStore;
  /**
   * Whether the bytes stay when the object is read, and the object is collected when it is no longer referenced. Only
   * if freezing.
   */
  readonly keepsBytes: boolean;
  /** For objects whose bytes do not contain their type. */
  readonly envelope: Envelope;
  /** The type that objects have once they are read. */
  readonly type: ObjectType;
  readonly freeze: boolean;
  /** Reads frozen objects. Objects of a kind have many parts alike, which are then parsed and kept once. */
  readonly parser: AlikeParser;
  /** The store's field paths at this time, and which ones these are. */
  readonly fieldPaths: () => { readonly paths: FieldPaths | undefined; readonly epoch: number };
  /** Called once for each object whose bytes turn out not to be one. */
  readonly onUnreadable: (error: ObjectDecodeError) => void;
}

/** Identity of a lazy object, decoded by the caller, who needed it to find the version before. */
export interface LazyIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

interface Decoded {
  labels?: Readonly<Record<string, string>>;
  owners?: readonly Readonly<OwnerReference>[];
  /** Why the object cannot be read. */
  failure?: ObjectDecodeError;
}

/** Notes of a lazy object, in words before its bytes. Positions are relative to its first byte; -1 means absent. */
const note = {
  uidStart: 0,
  uidEnd: 1,
  labelsStart: 2,
  labelsEnd: 3,
  ownersStart: 4,
  ownersEnd: 5,
  isDeleting: 6,
  hasKind: 7,
  bodyStart: 8,
  fieldsEnd: 9,
  fieldsEpoch: 10,
  /** -1 if absent; a value that does not fit into a word is {@link inBytes}. */
  generation: 11,
} as const;
/** How many words {@link LazyObject} needs of its slab store. */
export const noteWords = 12;
const inBytes = -2;

/**
 * A version that is kept as bytes until its object is read. Small, as there is one for each event.
 *
 * Its header and its index values are those of the bytes. The decoder takes only bytes for which a parse would give the
 * same result, and an object that turns out to differ is not handed out. It differs if a key occurs again, which no API
 * server writes, so the check costs time when the object is read and nothing when an event is received.
 */
export class LazyObject<T extends KubeObject> implements StoredObject<T>, CompactTenant {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Undefined once it is parsed, unless the bytes stay. */
  slab: Slab | undefined = undefined;
  offset = 0;
  readonly #context: LazyContext;
  #decoded: Decoded | undefined = undefined;
  /** The object; until it is parsed, the previous parsed version, to share structure with. Weak if the bytes stay. */
  #value: DeepReadonly<T> | WeakObject<DeepReadonly<T>> | undefined;

  constructor(context: LazyContext, identity: LazyIdentity, source: LazySource, base: DeepReadonly<T> | undefined) {
    this.namespace = identity.namespace;
    this.name = identity.name;
    this.resourceVersion = identity.resourceVersion;
    this.#context = context;
    this.#value = base === undefined || !context.keepsBytes ? base : new WeakObject(base, true);
    context.slabs.put(this, source.bytes, source.range);
    this.#takeNotes(source);
  }

  get isParsed(): boolean {
    return this.slab === undefined;
  }

  /** The version with which a following one can share structure, without forcing a parse. */
  get shareable(): DeepReadonly<T> | undefined {
    const value = this.#value;
    return value instanceof WeakObject ? value.value : value;
  }

  /** Whether reading {@link object} has failed, and will again. */
  get isUnreadable(): boolean {
    return this.#decoded?.failure !== undefined;
  }

  get generation(): number | undefined {
    const { slab } = this;
    if (slab === undefined) return headerValues.generation(metadataOf(this.object).generation);
    const known = slab instanceof ColdBlock ? slab.generationAt(this.offset) : undefined;
    const noted = known ?? this.#note(note.generation);
    if (noted === inBytes) return this.#rescan().generation;
    return noted < 0 ? undefined : noted;
  }

  get uid(): string {
    const { slab } = this;
    if (slab === undefined) return headerValues.text(metadataOf(this.object).uid);
    const known = slab instanceof ColdBlock ? slab.uidAt(this.offset) : undefined;
    if (known !== undefined) return known;
    const start = this.#note(note.uidStart);
    return start < 0 ? '' : this.#text(start, this.#note(note.uidEnd));
  }

  /** Whether both have a uid, and not the same one. Bytes are compared if available, so no string is created. */
  isAnotherThan(other: LazyObject<T>): boolean {
    const { slab } = this;
    const otherSlab = other.slab;
    if (slab === undefined || otherSlab === undefined || slab instanceof ColdBlock || otherSlab instanceof ColdBlock) {
      const { uid } = this;
      return uid !== '' && other.uid !== '' && uid !== other.uid;
    }
    const start = this.#note(note.uidStart);
    const otherStart = other.#note(note.uidStart);
    const length = this.#note(note.uidEnd) - start;
    const otherLength = other.#note(note.uidEnd) - otherStart;
    if (start < 0 || otherStart < 0 || length === 0 || otherLength === 0) return false;
    if (length !== otherLength) return true;
    const from = this.offset + start;
    const otherFrom = other.offset + otherStart;
    for (let index = 0; index < length; index++)
      if (slab.buffer[from + index] !== otherSlab.buffer[otherFrom + index]) return true;
    return false;
  }

  /**
   * Whether the content after `metadata` in `bytes` at `bodyStart` begins with the same bytes as here, as far as the
   * values of the declared paths were read from them. Returns the number of these bytes; -1 if they differ, or if
   * unknown.
   */
  sameFieldsLength(bytes: Uint8Array, bodyStart: number, end: number, epoch: number): number {
    const { slab } = this;
    // Scanning the fields takes less than having the bytes back.
    if (slab === undefined || slab instanceof ColdBlock || this.#note(note.fieldsEpoch) !== epoch) return -1;
    const start = this.#note(note.bodyStart);
    const fieldsEnd = this.#note(note.fieldsEnd);
    const length = fieldsEnd - start;
    if (fieldsEnd < 0 || bodyStart + length > end) return -1;
    const from = this.offset + start;
    const order = asBuffer(bytes).compare(slab.buffer, from, from + length, bodyStart, bodyStart + length);
    return order === 0 ? length : -1;
  }

  get deletionTimestamp(): string | undefined {
    const { slab } = this;
    if (slab === undefined) return headerValues.timestamp(metadataOf(this.object).deletionTimestamp);
    if (this.#note(note.isDeleting) === 0) return undefined;
    const { deletionTimestampStart, deletionTimestampEnd } = this.#rescan();
    return readAscii(slab.buffer, deletionTimestampStart, deletionTimestampEnd);
  }

  get labels(): Readonly<Record<string, string>> {
    if (this.slab === undefined) return headerValues.labels(metadataOf(this.object).labels);
    const start = this.#note(note.labelsStart);
    if (start < 0) return headerValues.labels(undefined);
    const labels =
      this.#decoded?.labels ?? Object.freeze(this.#parse<Record<string, string>>(start, this.#note(note.labelsEnd)));
    if (!this.#context.keepsBytes) (this.#decoded ??= {}).labels = labels;
    return labels;
  }

  get ownerReferences(): readonly Readonly<OwnerReference>[] {
    if (this.slab === undefined) return headerValues.owners(metadataOf(this.object).ownerReferences);
    const start = this.#note(note.ownersStart);
    if (start < 0) return headerValues.owners(undefined);
    const owners =
      this.#decoded?.owners ?? Object.freeze(this.#parse<OwnerReference[]>(start, this.#note(note.ownersEnd)));
    if (!this.#context.keepsBytes) (this.#decoded ??= {}).owners = owners;
    return owners;
  }

  /** @throws ObjectDecodeError if the bytes are not a valid object, at each read; the first has been reported */
  get object(): DeepReadonly<T> {
    const value = this.#value;
    if (value instanceof WeakObject) return (value.isVersionBefore ? undefined : value.value) ?? this.#materialise();
    return this.slab === undefined && value !== undefined ? value : this.#materialise();
  }

  fields(paths: FieldPaths): readonly (string | undefined)[] {
    return this.#scannedFields(paths) ?? fieldsOf(this.object, paths);
  }

  /** Undefined if only the parsed object contains them. */
  #scannedFields(paths: FieldPaths): readonly (string | undefined)[] | undefined {
    const { slab } = this;
    if (slab === undefined || leadsToType(paths)) return undefined;
    const scan = createObjectScan();
    const end = this.offset + this.#context.slabs.lengthOf(this);
    return scanObject(slab.buffer, this.offset, end, { scan, paths }) ? scan.fields : undefined;
  }

  #materialise(): DeepReadonly<T> {
    if (this.#decoded?.failure !== undefined) throw this.#decoded.failure;
    const { envelope, freeze, keepsBytes, parser, slabs } = this.#context;
    const { slab, offset } = this;
    const length = slabs.lengthOf(this);
    const text =
      slab === undefined || this.#note(note.hasKind) === 1
        ? this.#text(0, length)
        : envelope.textWith(slab.buffer, offset, offset + length);
    let value: unknown;
    try {
      value = freeze ? parser.parse(text, this.shareable) : parseJson(text);
    } catch (cause) {
      throw this.#unreadable(cause);
    }
    const scanned = slab !== undefined && this.#note(note.hasKind) === 0 ? this.#typed(value) : value;
    if (!this.#isAsScanned(scanned))
      throw this.#unreadable(new Error('a member of the object is there twice, with different values'));
    // The one place in which bytes become a T, because the response of the server for this kind is the type that the
    // token promises.
    const object = scanned as DeepReadonly<T>;
    if (keepsBytes) {
      this.#value = new WeakObject(object, false);
      return object;
    }
    this.#value = object;
    this.#decoded = undefined;
    try {
      slabs.discard(this);
    } finally {
      // Independent of its neighbours, because its own bytes may be overwritten from here on.
      this.slab = undefined;
    }
    return object;
  }

  /**
   * An apiVersion without a kind has no meaning. If it stands behind the inserted type, the inserted one is restored.
   */
  #typed(value: unknown): unknown {
    const { freeze, type } = this.#context;
    const object = value as KubeObject;
    if (object.apiVersion === type.apiVersion) return value;
    const typed = { ...object, ...type };
    return freeze ? Object.freeze(typed) : typed;
  }

  /**
   * Whether an object matches the values read from the bytes so far. It does not if a key occurs again behind the
   * scanned part. Parts of the header that have not been requested are not read for this; from here on the object
   * provides them.
   */
  #isAsScanned(object: unknown): boolean {
    const { type } = this.#context;
    const { kind, apiVersion, metadata } = object as KubeObject;
    // If nothing is noted about the values handed out, all of them may have been.
    const { labels, owners } = this.#context.keepsBytes
      ? { labels: this.labels, owners: this.ownerReferences }
      : (this.#decoded ?? {});
    return (
      kind === type.kind &&
      apiVersion === type.apiVersion &&
      metadata.name === this.name &&
      headerValues.text(metadata.resourceVersion) === this.resourceVersion &&
      headerValues.text(metadata.namespace) === this.namespace &&
      this.#isUid(headerValues.text(metadata.uid)) &&
      headerValues.generation(metadata.generation) === this.generation &&
      headerValues.timestamp(metadata.deletionTimestamp) === this.deletionTimestamp &&
      (labels === undefined || isDeepStrictEqual(headerValues.labels(metadata.labels), labels)) &&
      (owners === undefined || isDeepStrictEqual(headerValues.owners(metadata.ownerReferences), owners)) &&
      (!this.#mayRepeat() || this.#hasScannedFields(object))
    );
  }

  /** Whether the uid is this one. Compares bytes, so no string is created. */
  #isUid(uid: string): boolean {
    const { slab } = this;
    const start = this.#note(note.uidStart);
    const length = start < 0 ? 0 : this.#note(note.uidEnd) - start;
    if (slab === undefined || uid.length !== length) return false;
    const { buffer } = slab;
    const from = this.offset + start;
    for (let index = 0; index < length; index++) if (buffer[from + index] !== uid.charCodeAt(index)) return false;
    return true;
  }

  /** Whether a key on the way to an index value may occur again behind what was scanned. */
  #mayRepeat(): boolean {
    const { paths, epoch } = this.#context.fieldPaths();
    if (paths === undefined || paths.paths.length === 0) return false;
    const { slab, offset } = this;
    const from = this.#note(note.fieldsEpoch) === epoch ? this.#note(note.fieldsEnd) : -1;
    if (slab === undefined || from < 0) return true;
    return mayRepeat(slab.buffer, offset + from, offset + this.#context.slabs.lengthOf(this), paths);
  }

  /** Whether an object has the index values that were read from the bytes. */
  #hasScannedFields(object: unknown): boolean {
    const { paths } = this.#context.fieldPaths();
    if (paths === undefined) return true;
    const fields = fieldsOf(object, paths);
    return this.#scannedFields(paths)?.every((value, index) => value === fields[index]) ?? true;
  }

  #unreadable(cause: unknown): ObjectDecodeError {
    const failure = new ObjectDecodeError(formatKey(this), { cause });
    this.#decoded = { ...this.#decoded, failure };
    this.#context.onUnreadable(failure);
    return failure;
  }

  /** Values of the bytes that are too rare to be noted. */
  #rescan(): ObjectScan {
    const scan = createObjectScan();
    const { slab, offset } = this;
    if (slab !== undefined) scanObject(slab.buffer, offset, offset + this.#context.slabs.lengthOf(this), { scan });
    return scan;
  }

  #takeNotes({ range, scan, fieldsEnd, fieldsEpoch }: LazySource): void {
    const { slab } = this;
    if (slab === undefined) return;
    const { words } = slab;
    const at = (this.offset >> 2) - noteWords;
    words[at + note.uidStart] = place(scan.uidStart, range);
    words[at + note.uidEnd] = place(scan.uidEnd, range);
    words[at + note.labelsStart] = place(scan.labelsStart, range);
    words[at + note.labelsEnd] = place(scan.labelsEnd, range);
    words[at + note.ownersStart] = place(scan.ownersStart, range);
    words[at + note.ownersEnd] = place(scan.ownersEnd, range);
    words[at + note.isDeleting] = scan.deletionTimestampStart < 0 ? 0 : 1;
    words[at + note.hasKind] = scan.kindStart < 0 ? 0 : 1;
    words[at + note.bodyStart] = place(scan.metadataEnd, range);
    words[at + note.fieldsEnd] = place(fieldsEnd, range);
    words[at + note.fieldsEpoch] = fieldsEpoch;
    words[at + note.generation] = scan.generation === (scan.generation | 0) ? scan.generation : inBytes;
  }

  #note(which: number): number {
    return this.slab?.words[(this.offset >> 2) - noteWords + which] ?? -1;
  }

  #text(start: number, end: number): string {
    return this.slab === undefined ? '' : readText(this.slab.buffer, this.offset + start, this.offset + end);
  }

  #parse<V>(start: number, end: number): V {
    if (this.#decoded?.failure !== undefined) throw this.#decoded.failure;
    try {
      return parseJson(this.#text(start, end)) as V;
    } catch (cause) {
      throw this.#unreadable(cause);
    }
  }
}

/** Source of the bytes of a lazy object. */
export interface LazySource {
  readonly bytes: Uint8Array;
  readonly range: SlabRange;
  readonly scan: ObjectScan;
  /** End of the part of the bytes after `metadata` that decides the values of the declared paths; -1 if unknown. */
  readonly fieldsEnd: number;
  /** Which paths these were. */
  readonly fieldsEpoch: number;
}

function fieldsOf(object: unknown, paths: FieldPaths): readonly (string | undefined)[] {
  return paths.paths.map((path) => fieldAt(object, splitPath(path)));
}

/** Whether one of the paths leads to fields that objects have, but items of lists do not. */
export function leadsToType(paths: FieldPaths): boolean {
  return paths.paths.some((path) => ['apiVersion', 'kind'].includes(splitPath(path)[0] ?? ''));
}

/** Position in the kept bytes of a position of the source. */
function place(position: number, { start, cutStart, cutEnd }: SlabRange): number {
  if (position < 0) return -1;
  return position - start - (position >= cutEnd ? cutEnd - cutStart : 0);
}

function metadataOf(object: unknown): DeepReadonly<KubeObject['metadata']> {
  return (object as DeepReadonly<KubeObject>).metadata;
}
