import { arrayOf, isObject, setOwn, type JsonObject } from '@kctl/crd/internal/engine';
import { fieldType, formOf, type Atom, type ListAtom, type MapAtom } from './atom.js';
import { own } from './compare.js';
import { itemElement } from './list-items.js';
import type { PathElement } from './path-element.js';

/**
 * Merges a configuration into a live object. The configuration decides on fields that both have; nothing is removed.
 * Items of lists come in the order of the configuration if it contains the list. Reads only; the result shares parts
 * with both. `undefined` is absent.
 */
export function mergeObjects(live: unknown, config: unknown, atom: Atom): unknown {
  const form = formOf(atom, config === undefined ? live : config);
  const { map, list } = atom;
  if (form === 'map' && map !== undefined) {
    const lefts = isObject(live) ? live : {};
    const rights = isObject(config) ? config : {};
    const isBare = Object.keys(lefts).length === 0 && Object.keys(rights).length === 0;
    if (!map.isAtomic && !isBare) return mergeFields(lefts, rights, map);
  }
  if (form === 'list' && list !== undefined) {
    const lefts = arrayOf(live);
    const rights = arrayOf(config);
    if (!list.isAtomic && (lefts.length > 0 || rights.length > 0)) return mergeItems(lefts, rights, list);
  }
  return config === undefined ? live : config;
}

function mergeFields(live: JsonObject, config: JsonObject, map: MapAtom): JsonObject | undefined {
  const merged: JsonObject = {};
  const put = (name: string, left: unknown, right: unknown): void => {
    const type = fieldType(map, name);
    const value = type === undefined ? (right ?? left) : mergeObjects(left, right, type);
    if (value !== undefined) setOwn(merged, name, value);
  };
  for (const name of Object.keys(live)) put(name, live[name], own(config, name));
  for (const name of Object.keys(config)) if (!Object.hasOwn(live, name)) put(name, undefined, config[name]);
  return Object.keys(merged).length === 0 ? undefined : merged;
}

interface Indexed {
  readonly elements: readonly PathElement[];
  /** The item of each element; null if several have the same key. */
  readonly items: ReadonlyMap<PathElement, unknown>;
}

function index(list: readonly unknown[], atom: ListAtom): Indexed {
  const items = new Map<PathElement, unknown>();
  const elements = list.map((item) => {
    const element = itemElement(atom, item);
    items.set(element, items.has(element) ? null : item);
    return element;
  });
  return { elements, items };
}

/** Walks both lists at once. Shared items stay in the order of the configuration, others near their neighbours. */
function mergeItems(live: readonly unknown[], config: readonly unknown[], atom: ListAtom): unknown[] {
  const left = index(live, atom);
  const right = index(config, atom);
  const merged: unknown[] = [];
  const seen = new Set<PathElement>();
  const shared = right.elements.filter((element) => left.items.has(element));
  let nextShared = shared.shift();
  const put = (a: unknown, b: unknown): void => {
    const value = mergeObjects(a, b, atom.items);
    if (value !== undefined) merged.push(value);
  };
  for (let l = 0, r = 0; l < left.elements.length || r < right.elements.length; ) {
    const a = left.elements[l];
    const b = right.elements[r];
    if (a !== undefined && b !== undefined) {
      if (a === b) {
        seen.add(a);
        put(left.items.get(a), right.items.get(a));
        l++;
        r++;
        nextShared = shared.shift();
        continue;
      }
      if (right.items.has(a) && nextShared !== undefined && nextShared !== a) {
        l++;
        continue;
      }
    }
    if (a !== undefined) {
      if (!right.items.has(a)) {
        put(live[l], undefined);
        l++;
        continue;
      }
      if (seen.has(a)) l++;
    }
    if (b !== undefined) {
      seen.add(b);
      put(left.items.get(b), right.items.get(b));
      r++;
      if (nextShared === b) nextShared = shared.shift();
    }
  }
  return merged;
}
