import type { UntypedObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { isObject, type JsonObject } from '@kctl/crd/internal/engine';
import { decodeConnectOptions } from './connect-options.js';
import type { ObjectView, ResourceDefinition, Subresource } from '../resource/resource.js';
import { unclassified } from '../protocol/status.js';

/** Message of Go's converter of untyped objects for a field that the JSON decoder has refused. */
function unconvertible(message: string): string {
  const [, kind = '', type = ''] =
    /cannot unmarshal (\w+) into Go (?:struct field \S+|value) of type (\S+)/.exec(message) ?? [];
  const kinds: Readonly<Record<string, string>> = { number: 'int64', object: 'map', array: 'slice' };
  const from = kinds[kind] ?? kind;
  if (type.startsWith('map[')) return `cannot restore map from ${from}`;
  if (type.startsWith('[]')) return `cannot restore slice from ${from}`;
  return type === '' ? message : `unrecognized type: ${type}`;
}

/** The Scale of a custom resource after all webhooks. @throws StatusError 500 if a value does not fit */
export function decodeCustomView(view: ObjectView, value: JsonObject): UntypedObject {
  try {
    return view.decode({ value }).object;
  } catch (error) {
    throw unclassified(
      `unable to convert unstructured object to autoscaling/v1, Kind=Scale: ${unconvertible(messageOf(error))}`,
    );
  }
}

/** A Scale. */
function decodeView(definition: ResourceDefinition, view: ObjectView, value: JsonObject): UntypedObject {
  try {
    const { object } = view.decode({ value });
    // As upstream, the Scale of a custom resource that a plugin has made keeps what a Scale does not know, for those that follow.
    return definition.isCustom ? { ...value, ...object } : object;
  } catch (error) {
    // Includes values that do not fit, which are found after all webhooks.
    if (definition.isCustom) return { ...value, metadata: isObject(value['metadata']) ? value['metadata'] : {} };
    throw new TypeError(messageOf(error).replace(/^.* cannot be handled as a \S+: /, ''));
  }
}

/** Object as changed by a plugin; becomes the decoded object. */
export interface AdmittedValue {
  readonly value: JsonObject;
  /** Sees what is decoded before it is defaulted. */
  readonly onDecoded?: (value: JsonObject) => void;
}

/**
 * Decodes the object returned by a plugin, with types (built-in kinds) and defaults. Fields unknown to the schema of a
 * custom resource stay until the object is stored.
 *
 * @throws an error with the decoder's words
 */
export function decodeAdmitted(
  definition: ResourceDefinition,
  subresource: string,
  { value, onDecoded }: AdmittedValue,
): UntypedObject {
  const found = definition.subresources.get(subresource);
  if (found?.type === 'self' || found === undefined) return definition.decodeAdmitted(value, onDecoded);
  const object = decodeOther(definition, found, value);
  onDecoded?.(object);
  return object;
}

function decodeOther(
  definition: ResourceDefinition,
  found: Exclude<Subresource, { readonly type: 'self' }>,
  value: JsonObject,
): UntypedObject {
  switch (found.type) {
    case 'view':
      return decodeView(definition, found.view, value);
    case 'action':
      return { ...value, metadata: isObject(value['metadata']) ? value['metadata'] : {} };
    case 'connect':
      return decodeConnectOptions(found.kind, value);
  }
}
