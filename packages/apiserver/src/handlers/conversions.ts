import type { UntypedObject } from '@kctl/apimachinery';
import type { ResourceDefinition } from '../resource/resource.js';
import { convertVersions } from '../storage/convert-versions.js';
import { createVersion, renderObject, type ObjectVersion, type Rendering } from '../storage/version.js';

/** A state in a served version. @throws StatusError 500 if its conversion webhook fails */
export async function shownIn(definition: ResourceDefinition, version: ObjectVersion): Promise<Rendering> {
  const converted = convertVersions(definition, [version]);
  if (converted !== undefined) await converted;
  return version.in(definition);
}

/**
 * An object of a served version as it is stored, as a promise if a conversion webhook has to be called for it.
 *
 * @throws StatusError 500 (by rejecting) if the webhook fails
 */
export function storedForm(
  definition: ResourceDefinition,
  object: UntypedObject,
): UntypedObject | Promise<UntypedObject> {
  const { conversion, apiVersion, storageApiVersion } = definition;
  return conversion === undefined || apiVersion === storageApiVersion
    ? definition.toStorage(object)
    : conversion.toStorage(object);
}

/** A stored form that is not in the store, in a served version, for the answer of a dry run. @throws StatusError 500 */
export async function showStored(definition: ResourceDefinition, stored: UntypedObject): Promise<Rendering> {
  if (definition.conversion === undefined) return renderObject(definition.fromStorage(stored));
  return shownIn(definition, createVersion(0, stored));
}
