import type { UntypedObject } from '@kctl/apimachinery';

/** Puts back the metadata that no client may change by an update, before the kind's own preparation. Mirrors `rest.BeforeUpdate`. */
export function prepareMetadataForUpdate(object: UntypedObject, old: UntypedObject): void {
  const { metadata } = object;
  const before = old.metadata;
  if (before.generation === undefined) delete metadata.generation;
  else metadata.generation = before.generation;
  if ((metadata.uid ?? '') === '' && before.uid !== undefined) metadata.uid = before.uid;
  if (before.creationTimestamp === undefined) delete metadata.creationTimestamp;
  else metadata.creationTimestamp = before.creationTimestamp;
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds === undefined) {
    metadata.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds;
  }
  delete metadata.selfLink;
}

/**
 * Drops the metadata that a client must not set on a create. The generation stays, because kinds that count it begin at
 * 1, and others never use it.
 */
export function prepareMetadataForCreate(object: UntypedObject): void {
  const { metadata } = object;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

/** Counts the generation up from the stored object's. */
export function bumpGeneration(object: UntypedObject, old: UntypedObject): void {
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
