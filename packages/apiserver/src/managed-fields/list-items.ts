import { isObject } from '@kctl/crd/internal/engine';
import type { ListAtom } from './atom.js';
import { keyElement, valueElement, type PathElement } from './path-element.js';

/** A list whose items cannot be distinguished. */
export class ListItemError extends Error {
  override readonly name = 'ListItemError';
}

/** The element that selects an item of a list that is owned item by item. @throws ListItemError */
export function itemElement(list: ListAtom, item: unknown): PathElement {
  if (list.keys.length > 0) return keyedElement(list, item);
  if (isObject(item)) throw new ListItemError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new ListItemError('not supported: associative list with lists as elements');
  if (item === null || item === undefined) {
    throw new ListItemError("associative list without keys has an element that's an explicit null");
  }
  return valueElement(item);
}

function keyedElement(list: ListAtom, item: unknown): PathElement {
  if (item === null) throw new ListItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ListItemError('associative list with keys may not have non-map elements');
  const keys: (readonly [string, unknown])[] = [];
  for (const name of list.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : list.items.map?.field(name)?.default;
    // An item without a key is another item than one with it.
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
    throw new ListItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}
