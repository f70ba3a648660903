import { formatGroupVersionKind, parseJson } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { DeepReadonly, Kind, KubeList, KubeObject, ListMeta, PersistedObject } from '@kctl/apimachinery';
import { otherListType } from '@kctl/apimachinery/internal/wire';
import type { ListType } from '@kctl/apimachinery/internal/wire';
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

/** Parses JSON. @throws DecodeError, which does not quote the input, because it may be a Secret */
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

/**
 * The object of a kind that a parsed value is. `what`: the request, for the error.
 *
 * @throws DecodeError when it has no metadata, or is of another kind
 */
export function asObject<K extends Kind>(kind: K, value: unknown, what: string): PersistedObject<K> {
  if (!isKubeObject(value)) throw new DecodeError(`${what}: the response is not a Kubernetes object`);
  refuseOther(kind, value, what);
  return brand(kind, completed(kind, value));
}

/**
 * Returns a server's answer to a create, which is the object, or, for kinds such as Binding, a Status that reports
 * success.
 */
export function asCreated<K extends Kind>(kind: K, value: unknown, what: string): PersistedObject<K> {
  const isDone = isKubeObject(value) && value.kind === 'Status' && value.apiVersion === 'v1';
  return isDone ? brand(kind, value) : asObject(kind, value, what);
}

/** @throws DecodeError if it states another type than the requested one, as the answer of a proxy or of a fake may */
export function refuseOther(kind: Kind, value: StatedType, what: string, it = 'the response'): void {
  if (!isOther(kind, value)) return;
  const { apiVersion, kind: name } = value;
  throw new DecodeError(
    `${what}: ${it} is a ${JSON.stringify(name)} of ${JSON.stringify(apiVersion)}: expected a ${JSON.stringify(kind.kind)} of ${JSON.stringify(kind.apiVersion)}`,
  );
}

interface StatedType {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

/**
 * Whether a type is another one than that of the kind. A request for metadata is answered with the kind itself by servers
 * that have no such form.
 */
export function isOther(kind: Kind, { apiVersion, kind: name }: StatedType): boolean {
  if (kind.shape === 'metadata' && name === 'PartialObjectMetadata')
    return (apiVersion ?? undefined) !== undefined && !String(apiVersion).startsWith('meta.k8s.io/');
  return (name ?? kind.kind) !== kind.kind || (apiVersion ?? kind.apiVersion) !== kind.apiVersion;
}

/** Fills what the server leaves out in list items, and what it replaces in metadata-only answers. */
function completed(kind: Kind, object: KubeObject): KubeObject {
  if (kind.shape === 'metadata') return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: object.metadata };
  if (object.kind !== undefined && object.apiVersion !== undefined) return object;
  return { ...object, apiVersion: object.apiVersion ?? kind.apiVersion, kind: object.kind ?? kind.kind };
}

/** The list of a kind that a parsed value is. @throws DecodeError */
export function asList<K extends Kind>(kind: K, value: unknown, what: string): KubeList<PersistedObject<K>> {
  if (!isListLike(value)) throw new DecodeError(`${what}: the response is not a list${typeOf(value)}`);
  const items = value.items ?? [];
  refuseOtherList(kind, { ...value, items: items.length, untyped: () => items.filter(isUntyped).length }, what);
  return listWith(
    kind,
    value,
    items.map((item) => asItem(kind, item, what)),
  );
}

/** A list of items that were read already, of what surrounded them. */
export function listWith<K extends Kind>(
  kind: K,
  { apiVersion, metadata }: Pick<ListLike, 'apiVersion' | 'metadata'>,
  items: PersistedObject<K>[],
): KubeList<PersistedObject<K>> {
  const ownVersion = kind.shape === 'metadata' || apiVersion !== kind.apiVersion ? kind.apiVersion : apiVersion;
  return { apiVersion: ownVersion, kind: `${kind.kind}List`, metadata: listMeta(metadata), items };
}

/** @throws DecodeError for the list of another kind, or of another version */
export function refuseOtherList(kind: Kind, list: ListType, what: string): void {
  const came = otherListType(kind, list);
  if (came === undefined) return;
  const expected = kind.shape === 'metadata' ? ' or a meta.k8s.io/v1 PartialObjectMetadataList' : '';
  throw new DecodeError(
    `${what}: the response is ${came}: expected a ${kind.apiVersion} ${kind.kind}List${expected}: does the server, or a proxy in front of it, serve another kind at this path?`,
  );
}

/** Whether an item takes its type from the list. */
export function isUntyped(item: unknown): boolean {
  return (
    !isJsonObject(item) || (item['kind'] ?? undefined) === undefined || (item['apiVersion'] ?? undefined) === undefined
  );
}

function typeOf(value: unknown): string {
  return isJsonObject(value) && typeof value['kind'] === 'string' ? ` but a ${JSON.stringify(value['kind'])}` : '';
}

/** The metadata of a list as its type promises. A null in place of a token, which JSON may have, counts as missing. */
export function listMeta(metadata: ListMeta | null | undefined): ListMeta {
  const copy = { ...metadata };
  for (const name of ['resourceVersion', 'continue', 'remainingItemCount'] as const)
    if ((copy[name] ?? undefined) === undefined) Reflect.deleteProperty(copy, name);
  return copy;
}

/** An item of a list, with the key order of a whole object, so that both have one hidden class. */
export function asItem<K extends Kind>(kind: K, value: unknown, what: string): PersistedObject<K> {
  if (!isKubeObject(value)) throw new DecodeError(`${what}: a list item is not a Kubernetes object`);
  refuseOther(kind, value, what, 'a list item');
  if (kind.shape === 'metadata' || !isUntyped(value)) return brand(kind, completed(kind, value));
  const { apiVersion: _a, kind: _k, ...rest } = value;
  const whole: KubeObject = { apiVersion: kind.apiVersion, kind: kind.kind, ...rest };
  return brand(kind, whole);
}

/** The object as it is sent, with apiVersion and kind. @throws TypeError when it states another kind */
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

/** The only place that gives a value from the wire the compile-time type that its kind token promises. */
function brand<K extends Kind>(_kind: K, object: KubeObject): PersistedObject<K> {
  return object as PersistedObject<K>;
}

function isKubeObject(value: unknown): value is KubeObject {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}

interface ListLike {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ListMeta | null;
  readonly items?: readonly unknown[] | null;
}

/** Whether a value is a list; of what is still to be seen. */
export function isListLike(value: unknown): value is ListLike {
  if (!isJsonObject(value)) return false;
  if (!('items' in value)) return typeof value['kind'] === 'string' && value['kind'].endsWith('List');
  return value['items'] === null || Array.isArray(value['items']);
}
