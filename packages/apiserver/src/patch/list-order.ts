import { equalJson, isObject } from '@kctl/crd/internal/engine';

function identityOf(value: unknown, mergeKey: string | undefined): unknown {
  return mergeKey !== undefined && isObject(value) ? value[mergeKey] : value;
}

function indexIn(list: readonly unknown[], value: unknown, mergeKey: string | undefined): number {
  const identity = identityOf(value, mergeKey);
  return list.findIndex((each) => equalJson(identityOf(each, mergeKey), identity));
}

/** Splits a merged list into the items that an order names and all others. */
export function partition(
  items: readonly unknown[],
  order: readonly unknown[],
  mergeKey: string | undefined,
): [listed: unknown[], others: unknown[]] {
  const listed: unknown[] = [];
  const others: unknown[] = [];
  for (const item of items) (indexIn(order, item, mergeKey) >= 0 ? listed : others).push(item);
  return [listed, others];
}

function sortBy(items: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): unknown[] {
  const ranked = items.map((item) => ({ item, rank: indexIn(order, item, mergeKey) }));
  return ranked.sort((a, b) => (a.rank >= 0 && b.rank >= 0 ? a.rank - b.rank : 0)).map(({ item }) => item);
}

/** Parts that {@link inOrder} puts together. */
export interface OrderedParts {
  readonly listed: readonly unknown[];
  readonly others: readonly unknown[];
  /** The order that the patch gives. */
  readonly order: readonly unknown[];
  /** The list as it was, in the order of the server. */
  readonly before: readonly unknown[];
  readonly mergeKey: string | undefined;
}

/**
 * The final order of a merged list, with the patch's items in the patch's order and the server's own in the server's
 * order. Between the two a server item comes first only if the server has both in that order.
 */
export function inOrder({ listed, others, order, before, mergeKey }: OrderedParts): unknown[] {
  const fromPatch = sortBy(listed, order, mergeKey);
  const fromServer = sortBy(others, before, mergeKey);
  const result: unknown[] = [];
  while (fromServer.length > 0 && fromPatch.length > 0) {
    const left = indexIn(before, fromServer[0], mergeKey);
    const right = indexIn(before, fromPatch[0], mergeKey);
    const isServerFirst = left >= 0 && right >= 0 && left < right;
    result.push((isServerFirst ? fromServer : fromPatch).shift());
  }
  return [...result, ...fromServer, ...fromPatch];
}
