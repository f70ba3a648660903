import { formatGroupVersionKind, parseJson } from '@kctl/apimachinery';
import type {
  DeepReadonly,
  Kind,
  KubeList,
  KubeObject,
  ListMeta,
  ObjectMeta,
  PersistedObject,
} from '@kctl/apimachinery';
import { DecodeError } from '../errors.js';

const metadataObject = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** The Accept header for one object, or for frames of a watch, of this kind. */
export function acceptObject(kind: Kind): string {
  return kind.shape === 'metadata' ? metadataObject : 'application/json';
}

/** The Accept header for a collection of this kind. */
export function acceptList(kind: Kind): string {
  return kind.shape === 'metadata' ? metadataList : 'application/json';
}

/** An answer by its header. @throws DecodeError for a page for people, which comes from whatever is in front of the server */
export function refuseHtml({ contentType }: { readonly contentType: string }, what: string): void {
  if (/\bhtml\b/i.test(contentType))
    throw new DecodeError(
      `${what}: the answer is ${contentType}, not JSON: is a proxy or a login page in front of the API server?`,
    );
}

/** Parses a text. @throws DecodeError, which does not quote the text: it may be a Secret */
export function decodeJson(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const shape = text === '' ? 'it is empty' : `${text.length} characters that are not JSON`;
    throw new DecodeError(`${what}: cannot decode the answer: ${shape}`, { cause: error });
  }
}

/** Parses a document of bytes. @throws DecodeError */
export function decodeBytes(bytes: Uint8Array, what: string): unknown {
  return decodeJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(), what);
}

/** The object of a kind that a parsed value is. @throws DecodeError when it has no metadata, or is of another kind */
export function asObject<K extends Kind>(kind: K, value: unknown): PersistedObject<K> {
  if (!isKubeObject(value))
    throw new DecodeError(`${formatGroupVersionKind(kind)}: the response is not a Kubernetes object`);
  const other = otherKind(kind, value);
  if (other !== undefined) throw new DecodeError(`${formatGroupVersionKind(kind)}: the response is ${other}`);
  return brand(kind, completed(kind, value));
}

/** What a server answers to a write: the object, or, for kinds such as Binding, a Status that says that it is done. */
export function asWritten<K extends Kind>(kind: K, value: unknown): PersistedObject<K> {
  const isDone = isKubeObject(value) && value.kind === 'Status' && value.apiVersion === 'v1';
  return isDone ? brand(kind, value) : asObject(kind, value);
}

/**
 * What an object says to be, where that is not the kind that was requested: the answer of a proxy or of a fake. A request
 * for metadata is answered with the kind itself by servers that have no such form.
 */
function otherKind(kind: Kind, { apiVersion, kind: name }: KubeObject): string | undefined {
  if (kind.shape === 'metadata' && name === 'PartialObjectMetadata') return undefined;
  const isSame = (name ?? kind.kind) === kind.kind && (apiVersion ?? kind.apiVersion) === kind.apiVersion;
  return isSame ? undefined : `a ${JSON.stringify(name)} of ${JSON.stringify(apiVersion)}`;
}

/** Fills what the server leaves out in list items, and what it replaces in metadata-only answers. */
function completed(kind: Kind, object: KubeObject): KubeObject {
  if (kind.shape === 'metadata') return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: object.metadata };
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: object.apiVersion ?? kind.apiVersion, kind: object.kind ?? kind.kind };
}

/** The list of a kind that a parsed value is. @throws DecodeError */
export function asList<K extends Kind>(kind: K, value: unknown): KubeList<PersistedObject<K>> {
  if (!isListLike(value)) throw new DecodeError(`${formatGroupVersionKind(kind)}: the response is not a list`);
  const { apiVersion = kind.apiVersion, metadata, items } = value;
  return {
    apiVersion: kind.shape === 'metadata' ? kind.apiVersion : apiVersion,
    kind: `${kind.kind}List`,
    metadata: listMeta(metadata),
    items: (items ?? []).map((item) => asItem(kind, item)),
  };
}

/** The metadata of a list as its type promises: null, which JSON may have in place of a token, counts as missing. */
export function listMeta(metadata: ListMeta | null | undefined): ListMeta {
  const copy = { ...metadata };
  for (const name of ['resourceVersion', 'continue', 'remainingItemCount'] as const)
    if ((copy[name] ?? undefined) === undefined) Reflect.deleteProperty(copy, name);
  return copy;
}

/** An item of a list: key order as in a whole object, so that both have one hidden class. */
export function asItem<K extends Kind>(kind: K, value: unknown): PersistedObject<K> {
  if (!isKubeObject(value))
    throw new DecodeError(`${formatGroupVersionKind(kind)}: a list item is not a Kubernetes object`);
  if (kind.shape === 'metadata' || (value.kind !== undefined && value.apiVersion !== undefined))
    return asObject(kind, value);
  const { apiVersion: _a, kind: _k, ...rest } = value;
  const whole: KubeObject = { apiVersion: kind.apiVersion, kind: kind.kind, ...rest };
  return brand(kind, whole);
}

/** The object as it is sent: with apiVersion and kind. @throws TypeError when it says to be of another kind */
export function toSend(kind: Kind, object: DeepReadonly<KubeObject>): object {
  const isOther =
    (object.kind !== undefined && object.kind !== kind.kind) ||
    (object.apiVersion !== undefined && object.apiVersion !== kind.apiVersion);
  if (isOther)
    throw new TypeError(
      `an object with apiVersion ${JSON.stringify(object.apiVersion)} and kind ${JSON.stringify(object.kind)} cannot be written as ${formatGroupVersionKind(kind)}`,
    );
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
}

/** The one place where a value from the wire gets the compile-time type that its kind token promises. */
function brand<K extends Kind>(_kind: K, object: KubeObject): PersistedObject<K> {
  return object as PersistedObject<K>;
}

function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'metadata' in value && isMeta(value.metadata);
}

function isMeta(value: unknown): value is ObjectMeta {
  return typeof value === 'object' && value !== null;
}

interface ListLike {
  readonly apiVersion?: string;
  readonly metadata?: ListMeta | null;
  readonly items?: readonly unknown[] | null;
}

function isListLike(value: unknown): value is ListLike {
  if (typeof value !== 'object' || value === null) return false;
  if (!('items' in value)) return 'kind' in value && typeof value.kind === 'string' && value.kind.endsWith('List');
  return value.items === null || Array.isArray(value.items);
}
