import { controllerOf } from '@kctl/apimachinery';
import type { JsonValue } from '@kctl/apimachinery';
import { jsonPatch } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import { withoutFormerOwners } from '../ownership/field-owners.js';
import { isProven } from '../ownership/labels.js';
import { targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import type { Surroundings } from './outcome.js';

/** An object that a node may write. */
export interface Owned {
  readonly object: AnyObject;
  readonly isAdopted: boolean;
}

/** @throws NodeFailure when the object is somebody else's */
export async function requireOurs(member: Member, found: AnyObject, around: Surroundings): Promise<Owned> {
  const { definition, primary, node, key } = member;
  if (isProven(definition, primary, found)) return { object: found, isAdopted: false };
  let object = found;
  if (found.metadata.managedFields === undefined && controllerOf(found) === undefined) {
    // A cache may strip what proves it.
    object = (await around.applying.calls.find(node.kind, key, { live: true })) ?? found;
    if (isProven(definition, primary, object)) return { object, isAdopted: false };
  }
  const { adopt } = node;
  const isFree = controllerOf(object) === undefined;
  const isWelcome = isFree && (adopt === 'unowned' || (typeof adopt === 'function' && adopt(object)));
  if (!isWelcome) throw nameTaken(member, object);
  return { object, isAdopted: true };
}

/** The object of the name belongs to others. */
export function nameTaken({ node, key }: Member, object: AnyObject): NodeFailure {
  const controller = controllerOf(object);
  const why =
    controller === undefined
      ? 'has no controller: adopt it, or choose another name'
      : `is controlled by ${controller.kind} ${controller.name}: choose another name`;
  return new NodeFailure('NameTaken', `${targetOf(node.kind, key)} exists and ${why}`);
}

/** The object with its managed fields, which a cache may strip: they say what is ours, and what is no longer wanted. */
export async function withManagedFields(
  { node, key }: Member,
  found: AnyObject,
  { applying }: Surroundings,
): Promise<AnyObject> {
  if (found.metadata.managedFields !== undefined) return found;
  const live = await applying.calls.find(node.kind, key, { live: true });
  // Another object of the name was not asked for its owner.
  return live !== undefined && live.metadata.uid === found.metadata.uid ? live : found;
}

/** Moves fields of former owners to the present one. In a plan only the answer has them moved. */
export async function moveOwnership(member: Member, found: AnyObject, { applying }: Surroundings): Promise<AnyObject> {
  const { definition, node, key } = member;
  if (definition.formerFieldOwners.length === 0) return found;
  const owners = { owner: definition.fieldOwner, former: definition.formerFieldOwners };
  const managedFields = withoutFormerOwners(found, node.kind, owners);
  if (managedFields === undefined) return found;
  if (applying.dryRun) return { ...found, metadata: { ...found.metadata, managedFields } };
  applying.calls.beforeWrite();
  const patch = jsonPatch(
    { op: 'replace', path: '/metadata/managedFields', value: managedFields as JsonValue },
    { op: 'replace', path: '/metadata/resourceVersion', value: found.metadata.resourceVersion ?? '' },
  );
  return await applying.calls.client.patch(node.kind, key, patch, {
    ...applying.calls.abort,
    fieldOwner: definition.fieldOwner,
  });
}
