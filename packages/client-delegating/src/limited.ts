import type { KubeList } from '@kctl/apimachinery';

/** A truncated list states so in the one field that does not promise a next page. */
export function limited<T>(list: KubeList<T>, limit = 0): KubeList<T> {
  if (limit <= 0 || list.items.length <= limit) return list;
  return {
    ...list,
    metadata: { ...list.metadata, remainingItemCount: list.items.length - limit },
    items: list.items.slice(0, limit),
  };
}
