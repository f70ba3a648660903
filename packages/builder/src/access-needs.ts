import type { Kind } from '@kctl/apimachinery';
import { accessTo, type AccessNeed, type AccessOptions, type AccessVerb } from '@kctl/rbac';
import { mayHaveStatus } from './has-status.js';
import { isKind } from './input.js';

/** Rights that a definition declares. */
export interface AccessDefinition {
  readonly forKind: Kind | undefined;
  readonly ownedKinds: readonly Kind[];
  /** Rights that the author declared with `needs`, beside those that are assumed. */
  readonly declared: readonly AccessNeed[];
  /** Rights that the author declared with `onlyNeeds`, in place of those that are assumed for the resource. */
  readonly only: readonly AccessNeed[];
  /** Whether the reconciler is one of `reconcile()`, of which it is known what it writes and how. */
  readonly isObjectReconciler: boolean;
  readonly hasFinalizers: boolean;
  readonly namespacesFor: (kind: Kind) => readonly string[] | undefined;
}

const onConflict = 'a conflict, or an answer that was lost, has the object read past the cache';
const onEnforcement = 'the cluster enforces OwnerReferencesPermissionEnforcement';

/**
 * The rights of a controller beside those of its watches. The writes of a reconciler are code, so `complete` assumes
 * that it writes the status of the kind of `for` if it can have one, and creates, changes and deletes the kinds that it
 * owns. `needs` adds to that; for a resource of `onlyNeeds`, its declarations replace the assumption.
 */
export function controllerNeeds(definition: AccessDefinition): readonly AccessNeed[] {
  const { forKind, ownedKinds, declared, only, isObjectReconciler, hasFinalizers } = definition;
  const scoped = (kind: Kind): AccessOptions => {
    const namespaces = definition.namespacesFor(kind);
    return namespaces === undefined ? {} : { namespaces };
  };
  const assumed: AccessNeed[] = [];
  const rare: AccessNeed[] = [];
  const add = (kind: Kind, verbs: readonly AccessVerb[], options: AccessOptions): void => {
    (options.when === undefined ? assumed : rare).push(accessTo(kind, verbs, { ...scoped(kind), ...options }));
  };
  if (isKind(forKind)) {
    const reason = `for(${forKind.kind})`;
    add(forKind, ['get'], { reason, when: onConflict });
    if (mayHaveStatus(forKind))
      add(forKind, isObjectReconciler ? ['patch'] : ['update', 'patch'], { reason, subresource: 'status' });
    if (hasFinalizers) add(forKind, ['patch'], { reason: 'finalizers' });
    if (ownedKinds.length > 0) add(forKind, ['update'], { reason, subresource: 'finalizers', when: onEnforcement });
  }
  for (const kind of ownedKinds.filter((each) => isKind(each))) {
    const reason = `owns(${kind.kind})`;
    add(kind, ['get'], { reason, when: onConflict });
    add(kind, isObjectReconciler ? ['create', 'patch'] : ['create', 'update', 'patch', 'delete'], { reason });
  }
  const isReplaced = ({ group, resource }: AccessNeed): boolean =>
    only.some((need) => need.group === group && need.resource === resource);
  const needed = [...declared, ...only].filter(({ verbs }) => verbs.length > 0);
  return [...assumed.filter((need) => !isReplaced(need)), ...rare, ...needed];
}
