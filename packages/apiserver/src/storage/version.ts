import type { UntypedObject } from '@kctl/apimachinery';
import { jsonText } from '@kctl/crd/internal/engine';
import type { ResourceDefinition, RowContent } from '../resource/resource.js';
import { deepFreeze } from '../json/equality.js';
import { headed, longBodyOf, longObject } from './long-object.js';

/** An object as one served version shows it. */
export interface Rendering {
  readonly object: UntypedObject;
  /** The JSON of the object after `{"kind":…,"apiVersion":…`: begins with `,` and ends with `}`. */
  readonly tail: string;
  /** Its messages in protobuf, once one has been requested, for the object and for its metadata alone. */
  protobuf?: { whole?: Uint8Array; partial?: Uint8Array };
  /** The row of a long object in a Table, made in another thread, and the time that its ages count to. */
  row?: RowContent & { readonly nowMs: number };
}

/** One state of one object. Frozen, because versions are shared by readers, watchers and history. */
export interface ObjectVersion {
  readonly revision: number;
  /** In storage form. */
  readonly object: UntypedObject;
  /** Length of the JSON of the object in storage form, without kind and apiVersion. */
  readonly textLength: number;
  /** The JSON of the object in storage form. */
  readonly text: string;
  /**
   * The object in a served version. Made once for each definition, then shared.
   *
   * @throws RangeError if a conversion webhook has to be called first, see `convertVersions`
   */
  in(definition: ResourceDefinition): Rendering;
  /**
   * Whether {@link in} answers at once. False while a conversion webhook has not been called for this definition, or
   * another thread has not read it.
   */
  has(definition: ResourceDefinition): boolean;
  /** Keeps what a conversion webhook or another thread made of this state, for {@link in}. */
  keep(definition: ResourceDefinition, object: UntypedObject): void;
  /** The same state under a later revision, with the results of webhooks, as a DELETED event shows it. */
  at(revision: number): ObjectVersion;
}

const plainKeys = new Set(['kind', 'apiVersion']);

function renderTail(object: UntypedObject): string {
  const long = longBodyOf(object);
  if (long !== undefined) return long.tail(object.metadata.resourceVersion);
  const rest: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) if (!plainKeys.has(key)) rest[key] = value;
  const text = jsonText(rest);
  return text === '{}' ? '}' : `,${text.slice(1)}`;
}

/**
 * Each change of a CustomResourceDefinition makes new definitions, so renderings for the previous ones are not kept
 * forever.
 */
const maxOthers = 16;

class SharedVersion implements ObjectVersion {
  readonly revision: number;
  readonly object: UntypedObject;
  /** The object as it is stored, as JSON: versions that show it so share it. */
  #stored: Rendering | undefined;
  #definition: ResourceDefinition | undefined;
  #rendering: Rendering | undefined;
  #others: Map<ResourceDefinition, Rendering> | undefined;

  constructor(revision: number, object: UntypedObject) {
    this.revision = revision;
    this.object = object;
  }

  in(definition: ResourceDefinition): Rendering {
    if (this.#definition === definition && this.#rendering !== undefined) return this.#rendering;
    const known = this.#others?.get(definition);
    if (known !== undefined) return known;
    if (definition.conversion?.needsCall(this.object) === true)
      throw new RangeError(`${definition.apiVersion} ${definition.kind}: the conversion webhook has not been called`);
    const shown = definition.fromStorage(this.object);
    return this.#remember(definition, shown === this.object ? this.#asStored() : renderObject(shown));
  }

  get textLength(): number {
    return this.#asStored().tail.length;
  }

  get text(): string {
    const { kind, apiVersion } = this.object;
    return headed({ kind, apiVersion }, this.#asStored().tail);
  }

  #asStored(): Rendering {
    this.#stored ??= renderObject(this.object);
    return this.#stored;
  }

  has(definition: ResourceDefinition): boolean {
    const { conversion, slowReading } = definition;
    const shown = this.#known(definition)?.object;
    if (conversion?.needsCall(this.object) === true) return shown !== undefined;
    return slowReading?.isSlow(this, shown) !== true;
  }

  keep(definition: ResourceDefinition, object: UntypedObject): void {
    this.#remember(definition, object === this.object ? this.#asStored() : renderObject(deepFreeze(object)));
  }

  at(revision: number): ObjectVersion {
    const later = new SharedVersion(revision, deepFreeze(withRevision(this.object, revision)));
    const mine = this.#definition === undefined ? [] : ([[this.#definition, this.#rendering]] as const);
    for (const [definition, rendering] of [...mine, ...(this.#others ?? [])]) {
      if (rendering === undefined || later.has(definition)) continue;
      later.keep(definition, withRevision(rendering.object, revision));
    }
    return later;
  }

  #known(definition: ResourceDefinition): Rendering | undefined {
    return this.#definition === definition ? this.#rendering : this.#others?.get(definition);
  }

  #remember(definition: ResourceDefinition, rendering: Rendering): Rendering {
    if (this.#definition === undefined || this.#definition === definition) {
      this.#definition = definition;
      this.#rendering = rendering;
    } else {
      this.#others ??= new Map<ResourceDefinition, Rendering>();
      this.#others.delete(definition);
      this.#others.set(definition, rendering);
      const [oldest] = this.#others.keys();
      if (this.#others.size > maxOthers && oldest !== undefined) this.#others.delete(oldest);
    }
    return rendering;
  }
}

/** An object that is not (or not only) in the store, as an answer shows it. */
export function renderObject(object: UntypedObject): Rendering {
  return { object, tail: renderTail(object) };
}

/** Makes a version of an object whose `metadata.resourceVersion` is already set; freezes the object. */
export function createVersion(revision: number, object: UntypedObject): ObjectVersion {
  return new SharedVersion(revision, deepFreeze(object));
}

/** The same state under a later revision, as a DELETED event shows it. */
export function withRevision(object: UntypedObject, revision: number): UntypedObject {
  const long = longBodyOf(object);
  if (long !== undefined) return longObject(long, String(revision));
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/** The JSON of a whole object. */
export function wholeText(definition: ResourceDefinition, rendering: Rendering): string {
  return `{"kind":${JSON.stringify(definition.kind)},"apiVersion":${JSON.stringify(definition.apiVersion)}${rendering.tail}`;
}

/** The JSON of an object as an item of a list. Items of built-in lists carry no kind and apiVersion, as upstream. */
export function itemText(definition: ResourceDefinition, rendering: Rendering): string {
  if (definition.isCustom) return wholeText(definition, rendering);
  return rendering.tail === '}' ? '{}' : `{${rendering.tail.slice(1)}`;
}
