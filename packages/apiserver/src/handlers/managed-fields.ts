import type { ManagedFieldsEntry, UntypedObject } from '@kctl/apimachinery';

/** Who writes, and when. */
export interface Writer {
  readonly manager: string;
  readonly now: number;
}

/** An object about to be created, with its owner noted. */
export function trackCreate(object: UntypedObject, _writer: Writer): UntypedObject {
  return object;
}

/** An object about to be updated: who owned what before is kept, unless the writer wiped it. */
export function trackUpdate(
  object: UntypedObject,
  old: UntypedObject,
  writer: Writer & { readonly subresource: string; readonly given?: readonly ManagedFieldsEntry[] },
): UntypedObject {
  const isWiped = writer.given?.length === 1 && Object.keys(writer.given[0] ?? {}).length === 0;
  const { managedFields: _, ...metadata } = object.metadata;
  const kept = isWiped ? undefined : old.metadata.managedFields;
  return { ...object, metadata: kept === undefined ? metadata : { ...metadata, managedFields: kept } };
}
