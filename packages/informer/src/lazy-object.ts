import type { DeepReadonly, KubeObject, OwnerReference } from '@kctl/apimachinery';
import { formatKey, parseJson } from '@kctl/apimachinery';
import type { FieldPaths, ObjectScan } from '@kctl/apimachinery/wire';
import { createObjectScan, fieldAt, readText, scanObject, splitPath } from '@kctl/apimachinery/wire';
import type { StoredObject } from '@kctl/cache-index';
import { shareFreeze } from '@kctl/cache-index';
import { ObjectDecodeError } from './errors.js';
import type { Slab, SlabRange, SlabStore, SlabTenant } from './slab-store.js';

/** What the lazy objects of one informer have in common. */
export interface LazyContext {
  readonly slabs: SlabStore;
  /** How an object begins whose bytes do not say what it is, e.g. `{"apiVersion":"v1","kind":"Pod",`. */
  readonly envelope: string;
  readonly freeze: boolean;
}

/** Identity of a lazy object, decoded by the caller, who needed it to find the version before. */
export interface LazyIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({});
const noOwners: readonly OwnerReference[] = Object.freeze([]);

interface Decoded {
  labels?: Readonly<Record<string, string>>;
  owners?: readonly Readonly<OwnerReference>[];
}

/** A version that is kept as bytes until somebody reads it. Ranges are relative to its first byte; −1 means absent. */
export class LazyObject<T extends KubeObject> implements StoredObject<T>, SlabTenant {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  slab: Slab | undefined = undefined;
  offset = 0;
  length = 0;
  slot = -1;
  readonly #context: LazyContext;
  readonly #generation: number;
  readonly #hasKind: boolean;
  readonly #uidStart: number;
  readonly #uidEnd: number;
  readonly #deletionStart: number;
  readonly #labelsStart: number;
  readonly #labelsEnd: number;
  readonly #ownersStart: number;
  readonly #ownersEnd: number;
  #decoded: Decoded | undefined = undefined;
  /** The parsed version before, to share structure with; dropped at the first read. */
  #base: DeepReadonly<T> | undefined;
  #object: DeepReadonly<T> | undefined = undefined;

  constructor(context: LazyContext, identity: LazyIdentity, source: LazySource, base: DeepReadonly<T> | undefined) {
    const { scan, range } = source;
    this.namespace = identity.namespace;
    this.name = identity.name;
    this.resourceVersion = identity.resourceVersion;
    this.#context = context;
    this.#base = base;
    this.#generation = scan.generation;
    this.#hasKind = scan.hasKind;
    this.#uidStart = place(scan.uidStart, range);
    this.#uidEnd = place(scan.uidEnd, range);
    this.#deletionStart = place(scan.deletionTimestampStart, range);
    this.#labelsStart = place(scan.labelsStart, range);
    this.#labelsEnd = place(scan.labelsEnd, range);
    this.#ownersStart = place(scan.ownersStart, range);
    this.#ownersEnd = place(scan.ownersEnd, range);
    context.slabs.put(this, source.bytes, range);
  }

  get isParsed(): boolean {
    return this.#object !== undefined;
  }

  /** What a following version can share structure with, without forcing a parse. */
  get shareable(): DeepReadonly<T> | undefined {
    return this.#object ?? this.#base;
  }

  get generation(): number | undefined {
    return this.#generation < 0 ? undefined : this.#generation;
  }

  get uid(): string {
    if (this.#uidStart < 0) return '';
    return this.slab === undefined ? (metadataOf(this.object).uid ?? '') : this.#text(this.#uidStart, this.#uidEnd);
  }

  /** Whether both have a uid, and not the same one. Bytes are compared, where there are bytes: no text is made. */
  isAnotherThan(other: LazyObject<T>): boolean {
    const length = this.#uidEnd - this.#uidStart;
    if (this.#uidStart < 0 || other.#uidStart < 0 || length === 0) return false;
    const { slab } = this;
    const otherSlab = other.slab;
    if (slab === undefined || otherSlab === undefined) return other.uid !== '' && this.uid !== other.uid;
    const otherLength = other.#uidEnd - other.#uidStart;
    if (length !== otherLength) return otherLength !== 0;
    const from = this.offset + this.#uidStart;
    const otherFrom = other.offset + other.#uidStart;
    for (let index = 0; index < length; index++)
      if (slab.buffer[from + index] !== otherSlab.buffer[otherFrom + index]) return true;
    return false;
  }

  get deletionTimestamp(): string | undefined {
    return this.#deletionStart < 0 ? undefined : metadataOf(this.object).deletionTimestamp;
  }

  get labels(): Readonly<Record<string, string>> {
    if (this.#labelsStart < 0) return noLabels;
    if (this.#object !== undefined) return metadataOf(this.#object).labels ?? noLabels;
    this.#decoded ??= {};
    this.#decoded.labels ??= Object.freeze(this.#parse<Record<string, string>>(this.#labelsStart, this.#labelsEnd));
    return this.#decoded.labels;
  }

  get ownerReferences(): readonly Readonly<OwnerReference>[] {
    if (this.#ownersStart < 0) return noOwners;
    if (this.#object !== undefined) return metadataOf(this.#object).ownerReferences ?? noOwners;
    this.#decoded ??= {};
    this.#decoded.owners ??= Object.freeze(this.#parse<OwnerReference[]>(this.#ownersStart, this.#ownersEnd));
    return this.#decoded.owners;
  }

  get object(): DeepReadonly<T> {
    return this.#object ?? this.#materialise();
  }

  fields(paths: FieldPaths): readonly (string | undefined)[] {
    const { slab } = this;
    const scan = createObjectScan();
    if (slab !== undefined && scanObject(slab.buffer, this.offset, this.offset + this.length, { scan, paths }))
      return scan.fields;
    return paths.paths.map((path) => fieldAt(this.object, splitPath(path)));
  }

  #materialise(): DeepReadonly<T> {
    const { envelope, freeze, slabs } = this.#context;
    const text = this.#text(0, this.length);
    let value: unknown;
    try {
      value = parseJson(this.#hasKind ? text : envelope + text.slice(1));
    } catch (cause) {
      throw new ObjectDecodeError(formatKey(this), { cause });
    }
    // The one place where bytes become a T: what the server sent for this kind is what the token promises.
    const object = (freeze ? shareFreeze(value as T, this.#base) : value) as DeepReadonly<T>;
    this.#object = object;
    this.#base = undefined;
    this.#decoded = undefined;
    slabs.release(this);
    this.slab = undefined;
    return object;
  }

  #text(start: number, end: number): string {
    return this.slab === undefined ? '' : readText(this.slab.buffer, this.offset + start, this.offset + end);
  }

  #parse<V>(start: number, end: number): V {
    try {
      return JSON.parse(this.#text(start, end)) as V;
    } catch (cause) {
      throw new ObjectDecodeError(formatKey(this), { cause });
    }
  }
}

/** Where the bytes of a lazy object come from. */
export interface LazySource {
  readonly bytes: Uint8Array;
  readonly range: SlabRange;
  readonly scan: ObjectScan;
}

/** Where a position of the source lies in the kept bytes. */
function place(position: number, { start, cutStart, cutEnd }: SlabRange): number {
  if (position < 0) return -1;
  return position - start - (position >= cutEnd ? cutEnd - cutStart : 0);
}

function metadataOf(object: unknown): DeepReadonly<KubeObject['metadata']> {
  return (object as DeepReadonly<KubeObject>).metadata;
}
