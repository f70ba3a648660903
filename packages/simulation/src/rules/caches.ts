import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { ReplicaHost } from '../replica/replica-host.js';
import { objectLabel } from '../object-label.js';
import { activities } from '../network/activity.js';
import type { Violation } from '../violation.js';
import type { CausedCommit } from '../caused-commit.js';

/** The required part of a cache to compare it with the server; that of @kctl/cache is one. */
interface ComparableCache {
  informers(): readonly {
    readonly kind: Kind;
    readonly state: { readonly phase: string };
    readonly isWanted: boolean;
  }[];
  list(kind: Kind): Promise<{ readonly items: readonly KubeObject[] }>;
  /** Returns the content of a store for an object; undefined if it is out of its scope. */
  project(kind: Kind, object: KubeObject): unknown;
}

/** Returns a difference between a cache of a replica and the server; checked when nothing changes. */
export async function cacheProblem(
  host: ReplicaHost,
  objects: ReadonlyMap<string, CausedCommit>,
): Promise<Pick<Violation, 'rule' | 'message' | 'object'> | undefined> {
  const cache = host.operator?.cache;
  const { scope } = host;
  if (scope === undefined || !isComparable(cache)) return undefined;
  for (const { kind, state, isWanted } of cache.informers()) {
    if (!isWanted) continue;
    const what = `${host.name}: the cache of ${kind.kind}`;
    if (state.phase !== 'watching')
      return {
        rule: 'informer-stuck',
        message: `${what} is ${state.phase} in quiet times: its watch does not come back`,
      };
    if (kind.shape !== 'full' && kind.shape !== 'untyped') continue;
    const { items } = await activities.run({ scope }, () => cache.list(kind));
    const table = `${kind.group}/${kind.plural}`;
    const there = new Map([...objects].filter(([, { resource }]) => resource === table));
    for (const { metadata } of items) {
      const key = [metadata.namespace, metadata.name].filter((part) => part !== undefined && part !== '').join('/');
      const label = objectLabel(kind, key);
      const found = there.get(label);
      there.delete(label);
      const version = found?.object.metadata.resourceVersion;
      if (version === metadata.resourceVersion) continue;
      return {
        rule: 'cache-differs',
        message: `${what} has ${label} at resourceVersion ${metadata.resourceVersion ?? ''}, the server ${version === undefined ? 'does not have it' : `at ${version}`}`,
        object: label,
      };
    }
    const missing = [...there].find(([, { object }]) => cache.project(kind, object) !== undefined);
    if (missing !== undefined)
      return {
        rule: 'cache-differs',
        message: `${what} lacks ${missing[0]}, which the server has`,
        object: missing[0],
      };
  }
  return undefined;
}

function isComparable(cache: unknown): cache is ComparableCache {
  return (
    typeof cache === 'object' &&
    cache !== null &&
    ['informers', 'list', 'project'].every((name) => typeof Reflect.get(cache, name) === 'function')
  );
}
