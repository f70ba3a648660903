import type { Kind } from './kind.js';
import { groupOfApiVersion } from './kind.js';
import type { DeepReadonly, KubeObject, OwnerReference } from './object.js';
import { metadataOf, requireObjects, requireRecord } from './arguments/require-arguments.js';
import { requireOptions, type OptionNames } from '@kctl/options';
import { headerValues } from './wire/object-header.js';

const what = 'owner reference';

const code = 'KCTL_ALREADY_OWNED';

/** Thrown when an object that has a controller is to get another one. Mirrors `controllerutil.AlreadyOwnedError`. */
export class AlreadyOwnedError extends Error {
  override readonly name = 'AlreadyOwnedError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_ALREADY_OWNED' = code;
  /** The controller that the object has. */
  readonly owner: OwnerReference;

  constructor(object: DeepReadonly<KubeObject>, owner: OwnerReference) {
    const { namespace, name } = object.metadata;
    const where = (namespace ?? '') === '' ? (name ?? '') : `${namespace}/${name ?? ''}`;
    super(`object ${where} is already controlled by ${owner.kind} ${owner.name}`);
    this.owner = owner;
  }
}

/** Whether an error is an {@link AlreadyOwnedError}, also one of another copy of this package. */
export function isAlreadyOwned(error: unknown): error is AlreadyOwnedError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Options of {@link setControllerReference} and {@link setOwnerReference}. */
export interface OwnerReferenceOptions {
  /**
   * Whether a foreground deletion of the owner waits for the object.
   *
   * @default true for a controller, unset for another owner
   */
  readonly blockOwnerDeletion?: boolean;
}

const optionNames: OptionNames<OwnerReferenceOptions> = { blockOwnerDeletion: true };

/** Reference to an owner, which is an object as it was read, cached or not. */
export type Owner = DeepReadonly<KubeObject>;

/**
 * Makes `owner` the managing controller of the draft, so that a controller that owns this kind is notified of the draft's
 * events and the garbage collector deletes it with its owner. The draft is **mutated**: its entry for the same owner
 * (by group, kind and name; version and uid do not matter) is replaced. Mirrors `controllerutil.SetControllerReference`.
 *
 * @throws AlreadyOwnedError when another owner is the draft's controller
 * @throws TypeError when the owner has no name or uid, is in a namespace other than the draft's, or its kind has an
 * apiVersion that is not well-formed
 *
 * @example
 * ```ts
 * import { setControllerReference } from '@kctl/apimachinery';
 * import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const draft: ConfigMap = { metadata: { namespace: 'shop', name: 'web-0-settings' } };
 * setControllerReference(pod, Pod, draft);
 * await client.create(ConfigMap, draft); // is deleted with the Pod
 * ```
 */
export function setControllerReference(
  owner: Owner,
  ownerKind: Kind,
  draft: KubeObject,
  options: OwnerReferenceOptions = {},
): void {
  requireOptions('setControllerReference', options, optionNames);
  const { blockOwnerDeletion = true } = options;
  const reference = { ...referenceTo(owner, ownerKind, draft), controller: true, blockOwnerDeletion };
  const controller = controllerOf(draft);
  if (controller !== undefined && !isSameOwner(controller, reference)) throw new AlreadyOwnedError(draft, controller);
  upsert(draft, reference);
}

/**
 * Makes `owner` one of the draft's owners. The draft is **mutated**: its entry for the same owner is replaced. Mirrors
 * `controllerutil.SetOwnerReference`.
 *
 * @throws TypeError when the owner has no name or uid, is in a namespace other than the draft's, or its kind has an
 * apiVersion that is not well-formed
 */
export function setOwnerReference(
  owner: Owner,
  ownerKind: Kind,
  draft: KubeObject,
  options: OwnerReferenceOptions = {},
): void {
  requireOptions('setOwnerReference', options, optionNames);
  const { blockOwnerDeletion } = options;
  const reference = referenceTo(owner, ownerKind, draft);
  upsert(draft, blockOwnerDeletion === undefined ? reference : { ...reference, blockOwnerDeletion });
}

/** Removes the entry of `owner` from the draft, which is **mutated**, and reports whether it was present. */
export function removeOwnerReference(owner: Owner, ownerKind: Kind, draft: KubeObject): boolean {
  requireOwner(what, owner, ownerKind);
  return removeWhere(draft, (reference) => isReferenceTo(reference, owner, ownerKind));
}

/**
 * Removes the entry of `owner` from the draft, which is **mutated**, if it is the controller, and reports whether it
 * was.
 */
export function removeControllerReference(owner: Owner, ownerKind: Kind, draft: KubeObject): boolean {
  requireOwner(what, owner, ownerKind);
  return removeWhere(draft, (reference) => reference.controller === true && isReferenceTo(reference, owner, ownerKind));
}

/** Whether `owner` is among the owners of an object, by group, kind and name. */
export function hasOwnerReference(owner: Owner, ownerKind: Kind, object: Owner): boolean {
  requireOwner('hasOwnerReference', owner, ownerKind);
  return ownersOf('hasOwnerReference', object).some((reference) => isReferenceTo(reference, owner, ownerKind));
}

/** Whether an object has a controller, whichever it is. */
export function hasControllerReference(object: Owner): boolean {
  return controllerOf(object) !== undefined;
}

/**
 * The managing controller of an object. Mirrors `metav1.GetControllerOf`.
 *
 * @example
 * ```ts
 * import { controllerOf } from '@kctl/apimachinery';
 *
 * console.log(controllerOf(pod)?.name); // the ReplicaSet, for a Pod of a Deployment
 * ```
 */
export function controllerOf(object: Owner): OwnerReference | undefined {
  return ownersOf('controllerOf', object).find((reference) => reference.controller === true);
}

/** JSON may have null among the references; a reader leaves out what is not one. */
function ownersOf(name: string, object: Owner): readonly Readonly<OwnerReference>[] {
  return headerValues.owners(metadataOf(name, 'object', object).ownerReferences);
}

/**
 * @throws TypeError if the draft has owner references that cannot be compared, because a writer does not drop
 * references that it cannot read
 */
function draftOwners(draft: KubeObject): OwnerReference[] {
  const present = metadataOf(what, 'draft', draft).ownerReferences ?? [];
  requireObjects(what, 'ownerReferences of the draft', present, 'owner references, such as setOwnerReference adds');
  return present;
}

function requireOwner(name: string, owner: Owner, ownerKind: Kind): void {
  metadataOf(name, 'owner', owner);
  requireRecord(name, 'kind of the owner', ownerKind, 'the kind, such as those of defineKind(…)');
}

function referenceTo(owner: Owner, ownerKind: Kind, draft: KubeObject): OwnerReference {
  requireOwner(what, owner, ownerKind);
  metadataOf(what, 'draft', draft);
  if (
    groupOfApiVersion(ownerKind.apiVersion) === undefined ||
    typeof ownerKind.kind !== 'string' ||
    ownerKind.kind === ''
  )
    throw new TypeError(
      `owner reference: apiVersion ${JSON.stringify(ownerKind.apiVersion)}, kind ${JSON.stringify(ownerKind.kind)} is not valid: expected group/version (or a version) and a kind, such as those of defineKind(…)`,
    );
  // JSON may have null for an absent value.
  const [name, uid, namespace] = [owner.metadata.name ?? '', owner.metadata.uid ?? '', owner.metadata.namespace ?? ''];
  if (name === '' || uid === '')
    throw new TypeError(
      `owner reference: the owner has no ${name === '' ? 'name' : 'uid'}: only an object that the server has stored can own`,
    );
  const own = draft.metadata.namespace ?? '';
  if (namespace !== '' && namespace !== own)
    throw new TypeError(
      own === ''
        ? `owner reference: cluster-scoped object ${draft.metadata.name ?? ''} must not have the namespaced owner ${namespace}/${name}`
        : `owner reference: owner ${namespace}/${name} lives in another namespace than ${own}/${draft.metadata.name ?? ''}: cross-namespace owners are not allowed`,
    );
  return { apiVersion: ownerKind.apiVersion, kind: ownerKind.kind, name, uid };
}

function upsert(draft: KubeObject, reference: OwnerReference): void {
  const present = draftOwners(draft);
  const index = present.findIndex((other) => isSameOwner(other, reference));
  draft.metadata.ownerReferences = index < 0 ? [...present, reference] : present.with(index, reference);
}

function removeWhere(draft: KubeObject, isMeant: (reference: OwnerReference) => boolean): boolean {
  const present = draftOwners(draft);
  const kept = present.filter((reference) => !isMeant(reference));
  if (kept.length === present.length) return false;
  draft.metadata.ownerReferences = kept;
  return true;
}

function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.name === b.name &&
    a.kind === b.kind &&
    groupOfApiVersion(a.apiVersion) !== undefined &&
    groupOfApiVersion(a.apiVersion) === groupOfApiVersion(b.apiVersion)
  );
}

function isReferenceTo(reference: DeepReadonly<OwnerReference>, owner: Owner, ownerKind: Kind): boolean {
  return (
    reference.name === owner.metadata.name &&
    reference.kind === ownerKind.kind &&
    groupOfApiVersion(reference.apiVersion) === ownerKind.group
  );
}
