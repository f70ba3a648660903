import type { UntypedObject } from '@kctl/apimachinery';
import { isObject, type JsonObject } from '../registry/json.js';
import type { ResourceDefinition } from '../registry/resource.js';

/**
 * Decodes what a plugin has made of an object: types (built-in kinds) and defaults. Fields that the schema of a custom
 * resource does not know stay until the object is stored.
 *
 * @throws an error with the decoder's words
 */
export function decodeAdmitted(definition: ResourceDefinition, subresource: string, value: JsonObject): UntypedObject {
  const found = definition.subresources.get(subresource);
  switch (found?.type) {
    case 'view':
      return found.view.decode({ value }).object;
    case 'action':
      return { ...value, metadata: isObject(value['metadata']) ? value['metadata'] : {} };
    case 'connect':
    case 'self':
    case undefined:
      return definition.decodeAdmitted(value);
  }
}
