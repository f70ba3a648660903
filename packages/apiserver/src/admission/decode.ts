import type { UntypedObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry';
import { isObject, type JsonObject } from '@kctl/crd/engine';
import { decodeConnectOptions } from './connect-options.js';
import type { ObjectView, ResourceDefinition, Subresource } from '../registry/resource.js';
import { unclassified } from '../registry/status.js';

/** A Scale. Upstream's server of custom resources has no decoder for it and says so where a value does not fit. */
function decodeView(definition: ResourceDefinition, view: ObjectView, value: JsonObject): UntypedObject {
  try {
    const { object } = view.decode({ value });
    // As upstream, the Scale of a custom resource that a plugin has made keeps what a Scale does not know, for those that follow.
    return definition.isCustom ? { ...value, ...object } : object;
  } catch (error) {
    const message = messageOf(error);
    if (definition.isCustom && message.includes('of type int32'))
      throw unclassified(
        'unable to convert unstructured object to autoscaling/v1, Kind=Scale: unrecognized type: int32',
      );
    throw new TypeError(message.replace(/^.* cannot be handled as a \S+: /, ''));
  }
}

/** What a plugin has made of an object; becomes the decoded one's. */
export interface AdmittedValue {
  readonly value: JsonObject;
  /** Sees what is decoded before it is defaulted. */
  readonly onDecoded?: (value: JsonObject) => void;
}

/**
 * Decodes what a plugin has made of an object: types (built-in kinds) and defaults. Fields that the schema of a custom
 * resource does not know stay until the object is stored.
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
