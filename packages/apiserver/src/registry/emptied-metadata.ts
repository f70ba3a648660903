import type { UntypedObject } from '@kctl/apimachinery';

/**
 * Parts of the metadata that reading a custom resource drops where they are empty. As upstream, what a plugin or an apply
 * has emptied is stored so: the next write drops it, which makes a revision.
 */
export const emptiedFields = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** Whether a value is an object or a list without members. */
export function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Whether metadata have parts that reading drops. */
export function hasEmptied({ metadata }: UntypedObject): boolean {
  return emptiedFields.some((name) => isEmpty(metadata[name]));
}

/** Drops empty parts of the metadata, in place. */
export function dropEmptied({ metadata }: UntypedObject): void {
  for (const name of emptiedFields) if (isEmpty(metadata[name])) delete metadata[name];
}

/** A stored object as it is read; itself where it has nothing to drop. */
export function withoutEmptied(object: UntypedObject): UntypedObject {
  if (!hasEmptied(object)) return object;
  const read = { ...object, metadata: { ...object.metadata } };
  dropEmptied(read);
  return read;
}
