import type { UntypedObject } from '@kctl/apimachinery';
import type { ResourceDefinition } from '../resource/resource.js';
import { convertVersions } from '../storage/convert-versions.js';
import { createVersion, renderObject, type ObjectVersion, type Rendering } from '../storage/version.js';

/** A state in a served version. @throws StatusError 500 where its conversion webhook fails */
export async function shownIn(definition: ResourceDefinition, version: ObjectVersion): Promise<Rendering> {
  const converted = convertVersions(definition, [version]);
  if (converted !== undefined) await converted;
  return version.in(definition);
}

/**
 * An object of a served version as it is stored: a promise where a conversion webhook has to be called for it.
 *
 * @throws StatusError 500 (by rejecting) where the webhook fails
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

/** An object in its stored form that is not in the store, in a served version: what a dry run answers. @throws StatusError 500 */
export async function showStored(definition: ResourceDefinition, stored: UntypedObject): Promise<Rendering> {
  if (definition.conversion === undefined) return renderObject(definition.fromStorage(stored));
  return shownIn(definition, createVersion(0, stored));
}
