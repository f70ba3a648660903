import type { KubeObject, Selector } from '@kctl/apimachinery';
import type { StoredObject } from './stored-object.js';

/** How a list reads its elements. */
export interface Picking<E, R> {
  /** Evaluates the labels. */
  readonly selector: Pick<Selector, 'matches'> | undefined;
  readonly storedOf: (element: E) => Pick<StoredObject<KubeObject>, 'labels'>;
  readonly read: (element: E) => R;
  /** Receives errors of reading an element; the element is left out. If unset, the list throws. */
  readonly onUnreadable: ((error: unknown) => void) | undefined;
}

/** The elements that a selector matches, as they are read. */
export function pick<E, R>(elements: Iterable<E>, picking: Picking<E, R>): R[] {
  const { selector, storedOf, read, onUnreadable } = picking;
  const picked: R[] = [];
  try {
    for (const element of elements)
      if (selector === undefined || selector.matches(storedOf(element).labels)) picked.push(read(element));
    return picked;
  } catch (error) {
    if (onUnreadable === undefined) throw error;
    // Only here are errors of a read distinguished from those of a selector, because the loop above is the hot one.
    return pickReadable(elements, { ...picking, onUnreadable });
  }
}

function pickReadable<E, R>(
  elements: Iterable<E>,
  { selector, storedOf, read, onUnreadable }: Picking<E, R> & { readonly onUnreadable: (error: unknown) => void },
): R[] {
  const picked: R[] = [];
  const attempt = <V>(get: () => V): { readonly value: V } | undefined => {
    try {
      return { value: get() };
    } catch (error) {
      onUnreadable(error);
      return undefined;
    }
  };
  for (const element of elements) {
    if (selector !== undefined) {
      const labels = attempt(() => storedOf(element).labels);
      if (labels === undefined || !selector.matches(labels.value)) continue;
    }
    const found = attempt(() => read(element));
    if (found !== undefined) picked.push(found.value);
  }
  return picked;
}
