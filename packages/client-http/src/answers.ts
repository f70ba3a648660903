import { formatGroupVersionKind, formatKey } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Kind, PersistedObject } from '@kctl/apimachinery';
import type { DeletedCollection, ReadObject } from '@kctl/client';
import { asList, decodeJson, isListLike, refuseOther } from './bytes/codec.js';
import { DecodeError, isDecodeError } from './errors.js';
import { failureInBody, isStatus } from './transport/failure-status.js';

/** The subject of a request, for errors. */
export interface About {
  readonly verb: string;
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The request in words: `get apps/v1, Kind=Deployment "shop/web"`. */
export function describe({ verb, kind, namespace = '', name = '', subresource }: About): string {
  const part = subresource === undefined ? '' : `${subresource} of `;
  const what = `${verb} ${part}${formatGroupVersionKind(kind)}`;
  if (name !== '') return `${what} ${JSON.stringify(formatKey({ namespace, name }))}`;
  return namespace === '' ? what : `${what} in namespace ${JSON.stringify(namespace)}`;
}

/**
 * The collection is deleted by then, so a response that is not understood is not a failure. One that states another
 * kind is, because it is uncertain which objects were deleted.
 */
export function deletedCollection<K extends Kind>(kind: K, text: string, what: string): DeletedCollection<K> {
  const value = decodedOrUndefined(text, what);
  const failure = failureInBody(value, kind);
  if (failure !== undefined) throw failure;
  if (isStatus(value)) return value;
  if (!isListLike(value)) {
    if (isJsonObject(value)) refuseOther(kind, value, what);
    return undefined;
  }
  const list = asList(kind, value, what);
  return { ...list, items: list.items as (PersistedObject<K> & ReadObject<K>)[] };
}

function decodedOrUndefined(text: string, what: string): unknown {
  try {
    return decodeJson(text, what);
  } catch (error) {
    if (isDecodeError(error)) return undefined;
    throw error;
  }
}

/** Subresources whose body is the object itself. */
const wholeObjects: ReadonlySet<string> = new Set(['status', 'finalize', 'approval', 'ephemeralcontainers', 'resize']);

/**
 * The body of a subresource. Its type is the caller's word; if the kind is fixed by Kubernetes, another one is refused.
 *
 * @throws DecodeError
 */
export function asBody<B>(value: unknown, about: About): B {
  const { kind, subresource = '' } = about;
  if (!isJsonObject(value)) throw new DecodeError(`${describe(about)}: the response is not an object`);
  if (wholeObjects.has(subresource)) refuseOther(kind, value, describe(about));
  if (subresource === 'scale' && (value['kind'] ?? 'Scale') !== 'Scale' && kind.shape !== 'metadata')
    throw new DecodeError(`${describe(about)}: the response is a ${JSON.stringify(value['kind'])}: expected a "Scale"`);
  return value as B;
}
