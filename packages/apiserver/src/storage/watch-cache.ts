import { messageOf } from '@kctl/telemetry/internal';
import type { ResourceDefinition } from '../resource/resource.js';
import { convertVersions } from './convert-versions.js';
import type { Table } from './table.js';

/** Definitions whose objects could all be converted at one time since they were made. */
const filled = new WeakSet<ResourceDefinition>();

/** Records that a definition was created while the kind had no objects, so there was nothing to convert. */
export function noteFilled(definition: ResourceDefinition): void {
  filled.add(definition);
}

/**
 * Reads all objects in a version, as upstream does to fill the cache from which it lists and watches. Returns why that has
 * never succeeded for this definition; undefined if it has, now or before.
 */
export async function whyNotFilled(definition: ResourceDefinition, table: Table): Promise<string | undefined> {
  if (!definition.isCustom || filled.has(definition)) return undefined;
  try {
    await readAll(definition, table);
    filled.add(definition);
    return undefined;
  } catch (error) {
    const { group, version, kind } = definition;
    return `failed to list ${group}/${version}, Kind=${kind}: ${messageOf(error)}`;
  }
}

/** @throws StatusError 500 if an object cannot be converted */
export async function readAll(definition: ResourceDefinition, table: Table): Promise<void> {
  const all = [...table.scan({})].map(([, version]) => version);
  await convertVersions(definition, all);
  // Without a webhook, an object is refused only if its version was removed from the definition.
  if (definition.conversion === undefined) for (const { object } of all) definition.requireKnownVersion?.(object);
}
