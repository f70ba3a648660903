import { hash } from 'node:crypto';
import type { Kind } from '@kctl/apimachinery';
import { controllerOf } from '@kctl/apimachinery';
import { formatGroupKind, isJsonObject } from '@kctl/apimachinery/internal';
import type { AnyObject, ChildNode, Definition } from '../definition/node.js';

/** Prefix of labels and annotations that belong to this package. */
export const ownPrefix = 'kctl.dev/';
/** Label of every child, the hash of its primary. */
export const partOfLabel = 'kctl.dev/part-of';
/** Label of every child, the name of its node. */
export const nodeLabel = 'kctl.dev/node';
/** Label of a child of a set, its id. */
export const idLabel = 'kctl.dev/id';
/** Annotation of every child, in which order it is deleted. */
export const waveAnnotation = 'kctl.dev/wave';
/** Annotation of a child that stays when it is no longer wanted. */
export const onDeleteAnnotation = 'kctl.dev/on-delete';
/** Annotation of the primary, the kinds and namespaces of its children. */
export const inventoryAnnotation = 'kctl.dev/inventory';
/** Annotation of a primary or a child that is to be left alone. */
export const pausedAnnotation = 'kctl.dev/paused';

/** The value of {@link partOfLabel}: the same for all versions of the primary's kind. */
export function partOf(kind: Kind, primary: AnyObject): string {
  return hash('sha256', `${formatGroupKind(kind)}/${primary.metadata.uid ?? ''}`).slice(0, 32);
}

/** The labels of a child. */
export function ownLabels(partOfValue: string, node: ChildNode, id: string): Record<string, string> {
  const labels = { [partOfLabel]: partOfValue, [nodeLabel]: node.name };
  return node.type === 'set' ? { ...labels, [idLabel]: idValue(id) } : labels;
}

/** The id as the value of a label. An id that is none is hashed, so that any string may be an id. */
export function idValue(id: string): string {
  return /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)$/.test(id) ? id : hash('sha256', id).slice(0, 40);
}

export function isPaused(object: AnyObject): boolean {
  return object.metadata.annotations?.[pausedAnnotation] === 'true';
}

/** Proof that an object is a child of the primary, which a copy of its labels is not. */
export function isProven(definition: Definition, primary: AnyObject, object: AnyObject): boolean {
  const controller = controllerOf(object);
  if (controller !== undefined) return controller.uid === primary.metadata.uid;
  return (
    object.metadata.labels?.[partOfLabel] === partOf(definition.primary, primary) &&
    hasAppliedLabel(object, [definition.fieldOwner, ...definition.formerFieldOwners])
  );
}

/** Whether an object may be deleted, which needs its label and proof. */
export function isDeletable(definition: Definition, primary: AnyObject, object: AnyObject): boolean {
  const label = object.metadata.labels?.[partOfLabel];
  return label === partOf(definition.primary, primary) && isOwned(definition, primary, object);
}

/**
 * Proof that is enough to delete an object: where the API allows an owner reference, that alone. An object from which it was
 * removed was let go.
 */
export function isOwned(definition: Definition, primary: AnyObject, object: AnyObject): boolean {
  const { namespace } = primary.metadata;
  const canHaveOwner = namespace === undefined || namespace === object.metadata.namespace;
  if (canHaveOwner && controllerOf(object) === undefined) return false;
  return isProven(definition, primary, object);
}

/** Whether one of these owners has applied the label, according to the managed fields. */
function hasAppliedLabel(object: AnyObject, owners: readonly string[]): boolean {
  return (object.metadata.managedFields ?? []).some((entry) => {
    if (entry.manager === undefined || !owners.includes(entry.manager) || !isJsonObject(entry.fieldsV1)) return false;
    // An update may be that of a copy.
    if (entry.operation !== 'Apply') return false;
    const metadata = entry.fieldsV1['f:metadata'];
    const labels = isJsonObject(metadata) ? metadata['f:labels'] : undefined;
    return isJsonObject(labels) && `f:${partOfLabel}` in labels;
  });
}
