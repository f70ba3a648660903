import { arrayOf, isObject, setOwn, type JsonObject } from '@kctl/crd/internal/engine';
import { fieldType, formOf, type Atom, type ListAtom, type MapAtom } from './atom.js';
import { buildSet, emptySet, hasPath, isEmptySet, type FieldSet, type FieldSetBuilder } from './field-set.js';
import { itemElement } from './list-items.js';
import { fieldElement, fieldNameOf, type PathElement } from './path-element.js';

/** All leaves and list items that a value mentions. @throws ListItemError */
export function fieldSetOf(value: unknown, atom: Atom): FieldSet {
  const set = buildSet();
  collectBelow(value, atom, set);
  return set;
}

/** Adds everything below a value. Returns false for a leaf, which has nothing below it. */
function collectBelow(value: unknown, atom: Atom, set: FieldSetBuilder): boolean {
  const form = formOf(atom, value);
  if (form === 'map' && atom.map !== undefined && !atom.map.isAtomic) collectFields(value, atom.map, set);
  else if (form === 'list' && atom.list !== undefined && !atom.list.isAtomic) collectItems(value, atom.list, set);
  else return false;
  return true;
}

function collect(value: unknown, atom: Atom, { set, element }: { set: FieldSetBuilder; element: PathElement }): void {
  const below = buildSet();
  if (!collectBelow(value, atom, below)) set.members.add(element);
  else if (!isEmptySet(below)) set.children.set(element, below);
}

function collectFields(value: unknown, map: MapAtom, set: FieldSetBuilder): void {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const element = fieldElement(name);
    const type = fieldType(map, name);
    if (type !== undefined) collect(member, type, { set, element });
    const isBare = member === null || (isObject(member) && Object.keys(member).length === 0);
    if (isBare || map.field(name) === undefined) set.members.add(element);
  }
}

function collectItems(value: unknown, list: ListAtom, set: FieldSetBuilder): void {
  const items = arrayOf(value);
  const elements = items.map((item) => itemElement(list, item));
  const counts = new Map<PathElement, number>();
  for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1);
  for (const [index, element] of elements.entries()) {
    if (counts.get(element) === 1) collect(items[index], list.items, { set, element });
    set.members.add(element);
  }
}

/** A value without the members of a set. Reads only. A container that loses all it has becomes null, as upstream's does. */
export function removeFields(value: unknown, removed: FieldSet, atom: Atom): unknown {
  switch (formOf(atom, value)) {
    case 'map':
      return isObject(value) && atom.map?.isAtomic === false ? withoutFields(value, removed, atom.map) : null;
    case 'list':
      return Array.isArray(value) && atom.list?.isAtomic === false ? withoutItems(value, removed, atom.list) : null;
    case 'scalar':
      return value;
  }
}

function withoutFields(value: JsonObject, removed: FieldSet, map: MapAtom): JsonObject | null {
  const kept: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const element = fieldElement(name);
    if (removed.members.has(element)) continue;
    const below = removed.children.get(element);
    const type = fieldType(map, name);
    setOwn(kept, name, below === undefined || type === undefined ? member : removeFields(member, below, type));
  }
  return Object.keys(kept).length === 0 ? null : kept;
}

function withoutItems(items: readonly unknown[], removed: FieldSet, list: ListAtom): unknown[] | null {
  const kept: unknown[] = [];
  for (const item of items) {
    const element = itemElement(list, item);
    if (hasPath(removed, [element])) continue;
    const below = removed.children.get(element);
    kept.push(below === undefined ? item : removeFields(item, below, list.items));
  }
  return kept.length === 0 ? null : kept;
}

/** The set with every declared field on the way to a member made a member itself. */
export function withNamedFields(set: FieldSet, atom: Atom | undefined): FieldSet {
  if (isEmptySet(set)) return emptySet;
  const members = new Set(set.members);
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) {
    const name = fieldNameOf(element);
    const { map, list } = atom ?? {};
    if (name !== undefined && map?.field(name) !== undefined) members.add(element);
    let type: Atom | undefined;
    if (name !== undefined) type = map === undefined ? undefined : fieldType(map, name);
    else if (element.startsWith('k:')) type = list?.items;
    children.set(element, withNamedFields(child, type));
  }
  return { members, children };
}
