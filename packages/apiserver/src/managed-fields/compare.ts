import { arrayOf, isObject } from '@kctl/crd/internal/engine';
import { isDeepEqual } from '../json/equality.js';
import { fieldType, formOf, type Atom, type ListAtom, type MapAtom } from './atom.js';
import { buildSet, insertPath, recursiveDifference, type FieldSet, type FieldSetBuilder } from './field-set.js';
import { itemElement } from './list-items.js';
import { fieldElement, type PathElement } from './path-element.js';

/**
 * Differences of two states of an object. A path is in more than one of the sets only if an item of a list became
 * several of the same key, or the other way round; it is removed and added then.
 */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

/** One comparison, which collects paths on its way. */
class Comparer {
  readonly removed: FieldSetBuilder = buildSet();
  readonly modified: FieldSetBuilder = buildSet();
  readonly added: FieldSetBuilder = buildSet();
  readonly #path: PathElement[] = [];

  /** `undefined` is absent, which is not the same as null. */
  compare(left: unknown, right: unknown, atom: Atom): void {
    if (left === right && left !== undefined) return;
    const [leftForm, rightForm] = [formOf(atom, left), formOf(atom, right)];
    let isLeaf: boolean;
    if (right === undefined) {
      isLeaf = this.#visit(left, right, { atom, form: leftForm });
    } else {
      if (left !== undefined && leftForm !== rightForm) this.#visit(left, right, { atom, form: leftForm });
      isLeaf = this.#visit(left, right, { atom, form: rightForm });
    }
    if (isLeaf) return;
    if (left === undefined) insertPath(this.added, this.#path);
    else if (right === undefined) insertPath(this.removed, this.#path);
  }

  /** Whether the value is a leaf, owned as a whole. */
  #visit(left: unknown, right: unknown, { atom, form }: { atom: Atom; form: 'map' | 'scalar' | 'list' }): boolean {
    const { map, list } = atom;
    if (form === 'map' && map !== undefined) {
      const lefts = isObject(left) ? left : {};
      const rights = isObject(right) ? right : {};
      if (map.isAtomic || (isBare(lefts) && isBare(rights))) return this.#leaf(left, right);
      for (const name of Object.keys(lefts)) this.#field(name, lefts[name], { right: own(rights, name), map });
      for (const name of Object.keys(rights))
        if (!Object.hasOwn(lefts, name)) this.#field(name, undefined, { right: rights[name], map });
      return false;
    }
    if (form === 'list' && list !== undefined) {
      const lefts = arrayOf(left);
      const rights = arrayOf(right);
      if (list.isAtomic || (lefts.length === 0 && rights.length === 0)) return this.#leaf(left, right);
      this.#items(lefts, rights, list);
      return false;
    }
    return this.#leaf(left, right);
  }

  #leaf(left: unknown, right: unknown): true {
    if (left === undefined) insertPath(this.added, this.#path);
    else if (right === undefined) insertPath(this.removed, this.#path);
    else if (!isDeepEqual(left, right)) insertPath(this.modified, this.#path);
    return true;
  }

  /** Fields that both have, and fields that neither has, do not differ. */
  #field(name: string, left: unknown, { right, map }: { right: unknown; map: MapAtom }): void {
    if (left === right) return;
    const type = fieldType(map, name);
    if (type === undefined) return;
    this.#path.push(fieldElement(name));
    this.compare(left, right, type);
    this.#path.pop();
  }

  #items(left: readonly unknown[], right: readonly unknown[], list: ListAtom): void {
    const lefts = groupItems(left, list);
    const rights = groupItems(right, list);
    for (const element of new Set([...lefts.keys(), ...rights.keys()])) {
      this.#path.push(element);
      this.#group(lefts.get(element) ?? [], rights.get(element) ?? [], list);
      this.#path.pop();
    }
  }

  /** Items with the same key, of which duplicates count as one leaf. */
  #group(left: readonly unknown[], right: readonly unknown[], list: ListAtom): void {
    if (left.length <= 1 && right.length <= 1) {
      this.compare(left[0], right[0], list.items);
    } else if (left.length >= 2 && right.length >= 2) {
      if (!isDeepEqual(left, right)) insertPath(this.modified, this.#path);
    } else if (left.length >= 2) {
      if (right.length > 0) this.compare(undefined, right[0], list.items);
      insertPath(this.removed, this.#path);
    } else {
      if (left.length > 0) this.compare(left[0], undefined, list.items);
      insertPath(this.added, this.#path);
    }
  }
}

function isBare(object: Readonly<Record<string, unknown>>): boolean {
  for (const name in object) if (Object.hasOwn(object, name)) return false;
  return true;
}

/** A member of a JSON object; undefined if it is absent. */
export function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function groupItems(items: readonly unknown[], list: ListAtom): Map<PathElement, unknown[]> {
  const groups = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

/** Compares two states of an object; `ignored` and all below it is left out. @throws ListItemError */
export function compareObjects(
  left: unknown,
  right: unknown,
  { atom, ignored }: { readonly atom: Atom; readonly ignored: FieldSet | undefined },
): Comparison {
  const comparer = new Comparer();
  comparer.compare(left, right, atom);
  const { removed, modified, added } = comparer;
  if (ignored === undefined) return { removed, modified, added };
  return {
    removed: recursiveDifference(removed, ignored),
    modified: recursiveDifference(modified, ignored),
    added: recursiveDifference(added, ignored),
  };
}
