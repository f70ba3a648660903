import type { ObjectMeta, UntypedObject } from '@kctl/apimachinery';
import { isObject, jsonText, type JsonObject } from '@kctl/crd/internal/engine';
import { parseJsonFast } from '../json/strict-json.js';
import { deepFreeze } from '../json/equality.js';

/** A long object as threads hand it over, with the parts that every object needs, and the JSON of all of it. */
export interface LongContent {
  readonly kind?: string;
  readonly apiVersion?: string;
  /** Without managedFields. */
  readonly metadata: ObjectMeta;
  readonly hasOwners: boolean;
  /** Names of the other members. */
  readonly members: readonly string[];
  /** Its JSON after kind and apiVersion, up to the value of `metadata.resourceVersion`: begins with `,`. */
  readonly before: string;
  /** The rest; absent if it has no resourceVersion. */
  readonly after?: string;
  /** Length of the members of its metadata, without the resourceVersion. Each begins with `,`. */
  readonly metadataLength: number;
}

const metadataHead = ',"metadata":{';
const plainKeys: ReadonlySet<string> = new Set(['kind', 'apiVersion']);

/** Number of objects and lists of a long object that are frozen, since freezing 70,000 takes 40 ms. */
const maxFrozen = 4_096;

/** Beyond this many members an object is read at once, because an accessor for each would take longer. */
const maxLazyMembers = 64;

/** The JSON of a long object, which states that differ in their resourceVersion share. */
export class LongBody {
  readonly content: LongContent;
  /** Identity shared by bodies that differ in their metadata alone. */
  readonly identity: object;
  #whole: JsonObject | undefined;
  #metadata: JsonObject | undefined;

  constructor(content: LongContent, identity: object = {}) {
    this.content = content;
    this.identity = identity;
  }

  /** Its JSON after kind and apiVersion. */
  tail(resourceVersion: string | undefined): string {
    const { before, after } = this.content;
    return after === undefined ? before : `${before}${JSON.stringify(resourceVersion ?? '')}${after}`;
  }

  /** Whether {@link read} has been called, so that looking into the object is quick. */
  get isRead(): boolean {
    return this.#whole !== undefined;
  }

  /** The JSON of its metadata. */
  metadataText(resourceVersion: string | undefined): string {
    const members = this.#metadataMembers();
    if (this.content.after === undefined) return `{${members}}`;
    const version = `"resourceVersion":${JSON.stringify(resourceVersion ?? '')}`;
    return members === '' ? `{${version}}` : `{${version},${members}}`;
  }

  /** The members of the metadata as JSON, without the resourceVersion. */
  #metadataMembers(): string {
    const { before, after, metadataLength } = this.content;
    // Without a resourceVersion the first comma is the brace that opens.
    const members = after === undefined ? before.slice(metadataHead.length - 1).slice(0, metadataLength) : after;
    return members.slice(1, metadataLength);
  }

  /** Its JSON after the members of its metadata, beginning with the brace that closes them. */
  afterMetadata(): string {
    const { before, after, metadataLength } = this.content;
    if (after !== undefined) return after.slice(metadataLength);
    return before.slice(metadataHead.length + Math.max(0, metadataLength - 1));
  }

  /** The metadata, without the resourceVersion; read once, and then kept. */
  readMetadata(): JsonObject {
    if (this.#metadata === undefined) {
      const value = parseJsonFast(`{${this.#metadataMembers()}}`);
      this.#metadata = isObject(value) ? deepFreeze(value) : {};
    }
    return this.#metadata;
  }

  /** All members; read once, and then kept. */
  read(): JsonObject {
    if (this.#whole === undefined) {
      const value = parseJsonFast(`{${this.tail(this.content.metadata.resourceVersion).slice(1)}`);
      // Answers show the stored JSON, so a reader that changed its members would change them for itself.
      this.#whole = isObject(value) ? deepFreeze(value, maxFrozen) : {};
    }
    return this.#whole;
  }
}

const bodies = new WeakMap<UntypedObject, LongBody>();

/** The JSON of an object that {@link longObject} has made; undefined for all others. */
export function longBodyOf(object: UntypedObject): LongBody | undefined {
  return bodies.get(object);
}

function lazily(target: object, name: string, read: () => unknown): void {
  Object.defineProperty(target, name, { enumerable: true, get: read });
}

/** A frozen object over JSON, which is read once something looks beyond the metadata. */
export function longObject(
  body: LongBody,
  resourceVersion: string | undefined = body.content.metadata.resourceVersion,
): UntypedObject {
  const { kind, apiVersion, metadata: known, hasOwners, members } = body.content;
  const metadata: ObjectMeta = { ...known };
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
  if (hasOwners) {
    lazily(metadata, 'managedFields', () => body.readMetadata()['managedFields']);
  }
  const object: UntypedObject = {
    ...(kind !== undefined && { kind }),
    ...(apiVersion !== undefined && { apiVersion }),
    metadata,
  };
  if (members.length > maxLazyMembers) Object.assign(object, body.read(), { metadata });
  else for (const name of members) lazily(object, name, () => body.read()[name]);
  Object.freeze(metadata);
  bodies.set(object, body);
  return Object.freeze(object);
}

/** An object with other metadata. The rest of a long one stays unparsed JSON. */
export function withMetadata(object: UntypedObject, metadata: ObjectMeta): UntypedObject {
  const long = longBodyOf(object);
  if (long === undefined) return { ...object, metadata };
  const { managedFields, ...known } = metadata;
  const { resourceVersion, ...others } = metadata;
  const texts: string[] = [];
  writeMembers(
    others,
    () => false,
    (text) => void texts.push(text),
  );
  const inMetadata = texts.join('');
  const content: LongContent = {
    ...long.content,
    metadata: known,
    hasOwners: managedFields !== undefined,
    before: `${metadataHead}"resourceVersion":`,
    after: `${inMetadata}${long.afterMetadata()}`,
    metadataLength: inMetadata.length,
  };
  return longObject(new LongBody(content, long.identity), resourceVersion ?? '');
}

/** Whether two states differ in their metadata at most. For long objects this is known without reading them. */
export function haveSameContent(a: UntypedObject, b: UntypedObject): boolean {
  const [one, other] = [longBodyOf(a), longBodyOf(b)];
  if (one === undefined || other === undefined || a.kind !== b.kind || a.apiVersion !== b.apiVersion) return false;
  return one.afterMetadata() === other.afterMetadata();
}

/** Writes the members of an object, each after a comma. */
function writeMembers(object: object, isSkipped: (name: string) => boolean, write: (text: string) => void): void {
  for (const [name, value] of Object.entries(object)) {
    if (isSkipped(name) || value === undefined) continue;
    write(`,${JSON.stringify(name)}:${jsonText(value)}`);
  }
}

/** From this length on, in characters, what looks into an object does so in another thread. */
export function isLongText({ length }: { readonly length: number }): boolean {
  return length >= 64 * 1024;
}

/** The JSON of the metadata of an object; that of a long one is known. */
export function metadataText(object: UntypedObject): string {
  const { metadata } = object;
  return longBodyOf(object)?.metadataText(metadata.resourceVersion) ?? jsonText(metadata);
}

/** The JSON of an object; that of a long one is known. */
export function objectText(object: UntypedObject): string {
  const long = longBodyOf(object);
  if (long === undefined) return jsonText(object);
  const { kind, apiVersion, metadata } = object;
  return headed({ kind, apiVersion }, long.tail(metadata.resourceVersion));
}

/** A JSON object of kind and apiVersion, and a tail that begins with a comma, or is the brace that closes. */
export function headed(kind: Readonly<Record<'kind' | 'apiVersion', string | undefined>>, tail: string): string {
  const head = jsonText(kind).slice(1, -1);
  return `{${head === '' && tail.startsWith(',') ? tail.slice(1) : `${head}${tail}`}`;
}

/** An object for another thread. */
export function longContentOf(object: UntypedObject): LongContent {
  const { kind, apiVersion } = object;
  const { managedFields, ...metadata } = object.metadata;
  const known = {
    ...(kind !== undefined && { kind }),
    ...(apiVersion !== undefined && { apiVersion }),
    metadata,
    hasOwners: managedFields !== undefined,
    members: Object.keys(object).filter((name) => !plainKeys.has(name) && name !== 'metadata'),
  };
  const { resourceVersion, ...others } = object.metadata;
  const texts: string[] = [];
  const write = (text: string): void => void texts.push(text);
  writeMembers(others, () => false, write);
  const inMetadata = texts.splice(0).join('');
  writeMembers(object, (name) => plainKeys.has(name) || name === 'metadata', write);
  const content = texts.join('');
  const metadataLength = inMetadata.length;
  if (resourceVersion === undefined)
    return { ...known, before: `${metadataHead}${inMetadata.slice(1)}}${content}}`, metadataLength };
  return { ...known, before: `${metadataHead}"resourceVersion":`, after: `${inMetadata}}${content}}`, metadataLength };
}
