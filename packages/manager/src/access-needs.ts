import type { GroupVersionKind } from '@kctl/apimachinery';
import { accessTo, type AccessKind, type AccessNeed } from '@kctl/rbac';
import type { Cluster } from './cluster.js';
import type { Runnable } from './runnable.js';

/**
 * The rights that a set of runnables needs on one cluster: to list and watch what their sources and the cache hold, and
 * what they say themselves. Sources of other clusters are left out: roles of this one do not reach there.
 */
export function accessNeedsOf(cluster: Cluster, runnables: Iterable<Runnable>): readonly AccessNeed[] {
  const needs: AccessNeed[] = [];
  for (const runnable of runnables) {
    for (const { kind, informers = cluster.cache, name } of runnable.sources?.() ?? [])
      if (informers === cluster.cache) needs.push(...watchNeeds(cluster, kind, name ?? runnable.name ?? 'a source'));
    needs.push(...(runnable.accessNeeds?.() ?? []));
  }
  for (const { kind } of cluster.cache.informers?.() ?? [])
    needs.push(...watchNeeds(cluster, kind, `cache of ${kind.kind}`));
  return needs;
}

const onList = 'the server has no streaming lists, or an answer was lost';

function watchNeeds(cluster: Cluster, kind: GroupVersionKind | undefined, reason: string): AccessNeed[] {
  if (kind === undefined || !hasResource(kind)) return [];
  const namespaces = cluster.cache.namespacesFor?.(kind);
  const where = namespaces === undefined ? {} : { namespaces };
  return [
    accessTo(kind, ['watch'], { ...where, reason }),
    accessTo(kind, ['list'], { ...where, reason, when: onList }),
  ];
}

/** Whether the plural is known: it is not for kinds by name alone, which a mapper resolves on a server. */
function hasResource(kind: GroupVersionKind): kind is GroupVersionKind & AccessKind {
  return 'plural' in kind && typeof kind.plural === 'string';
}
