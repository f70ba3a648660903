import { fieldType, type Atom } from './atom.js';
import { isEmptySet, type FieldSet } from './field-set.js';
import { fieldNameOf, type PathElement } from './path-element.js';

/**
 * A set of owned fields by the present type. Parts that have become atomic since it was written are owned as a whole.
 * The same set if nothing changes. Mirrors `ReconcileFieldSetWithSchema`.
 */
export function reconcileSet(set: FieldSet, atom: Atom): FieldSet {
  let members: Set<PathElement> | undefined;
  let children: Map<PathElement, FieldSet> | undefined;
  for (const [element, child] of set.children) {
    const type = typeAt(atom, element);
    if (type === undefined) continue;
    if (isWhole(type)) {
      members ??= new Set(set.members);
      children ??= new Map(set.children);
      members.add(element);
      children.delete(element);
      continue;
    }
    const reconciled = reconcileSet(child, type);
    if (reconciled === child) continue;
    children ??= new Map(set.children);
    if (isEmptySet(reconciled)) children.delete(element);
    else children.set(element, reconciled);
  }
  if (members === undefined && children === undefined) return set;
  return { members: members ?? set.members, children: children ?? set.children };
}

function typeAt({ map, list }: Atom, element: PathElement): Atom | undefined {
  const name = fieldNameOf(element);
  if (name === undefined) return list?.items;
  return map === undefined ? undefined : fieldType(map, name);
}

/** Whether a type is owned as a whole, in the first form that it has. */
function isWhole({ map, scalar, list }: Atom): boolean {
  if (map !== undefined) return map.isAtomic;
  return scalar === undefined && list?.isAtomic === true;
}
