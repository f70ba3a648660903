import { type GroupVersionKind } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { accessTo, type AccessKind, type AccessNeed } from '@kctl/rbac';
import { shownType } from '@kctl/options';
import { listedBy, reportsOf } from './listed-by.js';
import type { Cluster } from './cluster.js';
import { RunnableError } from './errors.js';
import type { Runnable } from './runnable.js';

/**
 * Rights that a set of runnables needs on one cluster. They are the rights to list and watch the kinds of their sources
 * and of the cache, and those that the runnables declare. Sources of other clusters are left out, because roles of this
 * one do not apply there.
 *
 * @throws RunnableError naming the runnable that does not return its sources or its rights
 */
export function accessNeedsOf(cluster: Cluster, runnables: Iterable<Runnable>): readonly AccessNeed[] {
  const needs: AccessNeed[] = [];
  for (const runnable of runnables) {
    try {
      for (const { kind, informers = cluster.cache, name } of listedBy(
        'sources()',
        runnable.sources?.(),
        '{ isRequired, kind, … }',
      ))
        if (informers === cluster.cache) needs.push(...watchNeeds(cluster, kind, name ?? runnable.name ?? 'a source'));
      needs.push(...declaredNeeds('accessNeeds()', runnable.accessNeeds?.()));
    } catch (error) {
      // A role without the rights of one runnable would fail late, so no needs at all are returned.
      throw new RunnableError(runnable.name ?? 'a runnable', error);
    }
  }
  for (const { kind } of reportsOf(cluster.cache)) needs.push(...watchNeeds(cluster, kind, `cache of ${kind.kind}`));
  return needs;
}

/** Rights that foreign code declares. @throws TypeError naming the value that is not a list of rights */
export function declaredNeeds(what: string, declared: readonly AccessNeed[] | undefined): readonly AccessNeed[] {
  const given: unknown = declared ?? [];
  if (!Array.isArray(given))
    throw new TypeError(`${what} returned ${shownType(given)}: expected a list of rights, see accessTo of @kctl/rbac`);
  const odd = given.findIndex((need: unknown) => !isNeed(need));
  if (odd >= 0)
    throw new TypeError(
      `${what} returned a list whose item ${odd} is not a right: expected { group, resource, verbs, reason }, see accessTo of @kctl/rbac`,
    );
  return declared ?? [];
}

function isNeed(need: unknown): need is AccessNeed {
  if (!isJsonObject(need)) return false;
  const { group, resource, verbs, reason } = need;
  return [group, resource, reason].every((each) => typeof each === 'string') && Array.isArray(verbs);
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

/** Whether the plural is known, which it is not for kinds by name alone, which a mapper resolves on a server. */
function hasResource(kind: GroupVersionKind): kind is GroupVersionKind & AccessKind {
  return 'plural' in kind && typeof kind.plural === 'string';
}
