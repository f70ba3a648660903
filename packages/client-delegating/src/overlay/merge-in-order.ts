import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';

/**
 * Inserts additional objects in their place into a list that is in the order of namespace and name, as servers and
 * caches list.
 */
export function mergeInOrder<T>(
  items: readonly T[],
  added: readonly T[],
  metadataOf: (item: T) => DeepReadonly<KubeObject>['metadata'],
): T[] {
  const compare = (a: T, b: T): number => {
    const left = metadataOf(a);
    const right = metadataOf(b);
    return compareText(left.namespace, right.namespace) || compareText(left.name, right.name);
  };
  const rest = [...added].sort(compare).values();
  let next = rest.next();
  const merged: T[] = [];
  for (const item of items) {
    for (; next.done !== true && compare(next.value, item) < 0; next = rest.next()) merged.push(next.value);
    merged.push(item);
  }
  for (; next.done !== true; next = rest.next()) merged.push(next.value);
  return merged;
}

function compareText(left = '', right = ''): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
