import { isObject, setOwn, type JsonObject } from '@kctl/crd/internal/engine';
import { compareElements, parseElement, type PathElement } from './path-element.js';

/** A set of paths. A path may be a member and have members below it. Sets that were handed out are not changed. */
export interface FieldSet {
  /** Paths of one element. */
  readonly members: ReadonlySet<PathElement>;
  /** Sets of the paths that go on; never empty. */
  readonly children: ReadonlyMap<PathElement, FieldSet>;
}

/** A set under construction. */
export interface FieldSetBuilder extends FieldSet {
  readonly members: Set<PathElement>;
  readonly children: Map<PathElement, FieldSetBuilder>;
}

/** The set without members. */
export const emptySet: FieldSet = { members: new Set(), children: new Map() };

/** A set to insert paths into. */
export function buildSet(...paths: readonly (readonly PathElement[])[]): FieldSetBuilder {
  const set: FieldSetBuilder = { members: new Set(), children: new Map() };
  for (const path of paths) insertPath(set, path);
  return set;
}

/** Adds a path; the empty path means the object as a whole, which has no owner. */
export function insertPath(set: FieldSetBuilder, path: readonly PathElement[]): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let node = set;
  for (let index = 0; index < path.length - 1; index++) {
    const element = path[index] ?? last;
    let child = node.children.get(element);
    if (child === undefined) {
      child = buildSet();
      node.children.set(element, child);
    }
    node = child;
  }
  node.members.add(last);
}

/** Whether it has no members. */
export function isEmptySet(set: FieldSet): boolean {
  return set.members.size === 0 && set.children.size === 0;
}

/** Whether a path is a member. */
export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const [index, element] of path.entries()) {
    if (index === path.length - 1) return node.members.has(element);
    node = node.children.get(element);
    if (node === undefined) return false;
  }
  return false;
}

/** Members of either. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const children = new Map(a.children);
  for (const [element, child] of b.children) {
    const known = children.get(element);
    children.set(element, known === undefined ? child : union(known, child));
  }
  return { members: new Set([...a.members, ...b.members]), children };
}

/** Members of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other !== undefined) setChild(children, element, intersection(child, other));
  }
  return { members: new Set([...a.members].filter((element) => b.members.has(element))), children };
}

/** Whether each member of `a` is one of `b`. */
export function isSubset(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.members.size > b.members.size || a.children.size > b.children.size) return false;
  for (const element of a.members) if (!b.members.has(element)) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !isSubset(child, other)) return false;
  }
  return true;
}

/** Members of `a` that are not members of `b`; those below a member of `b` stay. `a` itself if that is all. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return without(a, b, false);
}

/** Members of `a` that are neither members of `b` nor below one. `a` itself if that is all. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return without(a, b, true);
}

/** A set that loses nothing keeps its identity, and with it its encoding. */
function without(a: FieldSet, b: FieldSet, isRecursive: boolean): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return a;
  const children = new Map<PathElement, FieldSet>();
  let isSame = true;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    let left: FieldSet | undefined = other === undefined ? child : without(child, other, isRecursive);
    if (isRecursive && b.members.has(element)) left = undefined;
    if (left !== child) isSame = false;
    if (left !== undefined) setChild(children, element, left);
  }
  const members = new Set<PathElement>();
  for (const element of a.members) if (!b.members.has(element)) members.add(element);
  return isSame && members.size === a.members.size ? a : { members, children };
}

function setChild(children: Map<PathElement, FieldSet>, element: PathElement, child: FieldSet): void {
  if (!isEmptySet(child)) children.set(element, child);
}

/** All members, those of one level before those below, sorted. */
export function* pathsOf(set: FieldSet, prefix: readonly PathElement[] = []): Iterable<readonly PathElement[]> {
  for (const element of [...set.members].sort(compareElements)) yield [...prefix, element];
  const names = [...set.children.keys()].sort(compareElements);
  for (const element of names) yield* pathsOf(set.children.get(element) ?? emptySet, [...prefix, element]);
}

const encoded = new WeakMap<FieldSet, JsonObject>();
const decoded = new WeakMap<JsonObject, FieldSet>();

/** Stands for a member with nothing below it. One object for all, as an object may have 100,000 fields. */
const leaf: JsonObject = Object.freeze<JsonObject>({});

function encode(set: FieldSet): JsonObject {
  const json: JsonObject = {};
  const elements = new Set([...set.members, ...set.children.keys()]);
  for (const element of [...elements].sort(compareElements)) {
    const child = set.children.get(element);
    if (child === undefined) setOwn(json, element, leaf);
    else setOwn(json, element, set.members.has(element) ? { '.': leaf, ...encode(child) } : encode(child));
  }
  return json;
}

/** A set as `fieldsV1`. The same set gives the same (shared) object. */
export function encodeSet(set: FieldSet): JsonObject {
  let json = encoded.get(set);
  if (json === undefined) {
    json = encode(set);
    encoded.set(set, json);
    decoded.set(json, set);
  }
  return json;
}

function decode(json: JsonObject): FieldSetBuilder {
  const set = buildSet();
  for (const [text, below] of Object.entries(json)) {
    if (text === '.') continue;
    const element = parseElement(text);
    if (element === undefined) continue;
    const children = isObject(below) ? below : {};
    const child = decode(children);
    if (!isEmptySet(child)) set.children.set(element, child);
    if (isEmptySet(child) || '.' in children) set.members.add(element);
  }
  return set;
}

/** Reads `fieldsV1`. @throws SyntaxError if an element is malformed */
export function decodeSet(json: JsonObject): FieldSet {
  const known = decoded.get(json);
  if (known !== undefined) return known;
  const set = decode(json);
  // Only stored objects are frozen; others may change under the cache.
  if (Object.isFrozen(json)) {
    decoded.set(json, set);
    encoded.set(set, json);
  }
  return set;
}
