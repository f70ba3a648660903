import { formatGroupKind, formatGroupVersionKind, isSameKind, parseApiVersion } from './kind.js';
import type { GroupVersionKind, GroupVersionResource, Kind } from './kind.js';
import { NoKindMatchError } from './no-kind-match.js';
import { requireObjects, requireRecord } from './arguments/require-arguments.js';

/** Group and kind, any version. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** A set of kinds that finds the token of a name, a resource or an object. Immutable. */
export interface Scheme {
  /** All tokens, in the order in which they were given. */
  readonly kinds: readonly Kind[];
  /**
   * The token of a group, version and kind; without a version, that of the highest one (v2, v1, v1beta1, v1alpha1).
   *
   * @throws NoKindMatchError
   */
  kindFor(wanted: GroupKind | GroupVersionKind): Kind;
  /** The token of a resource, e.g. `{ group: 'apps', version: 'v1', resource: 'deployments' }`. */
  kindForResource(resource: GroupVersionResource): Kind | undefined;
  /**
   * The token of an object, by its `apiVersion` and `kind`.
   *
   * @throws NoKindMatchError; TypeError when the object does not state its kind
   */
  kindOf(object: { readonly apiVersion?: string; readonly kind?: string }): Kind;
  /** Whether the scheme contains this group, version and kind. */
  has(kind: GroupVersionKind): boolean;
  /** A scheme with more kinds; one with the same group, version and kind replaces the older. */
  with(...kinds: readonly Kind[]): Scheme;
}

/**
 * Returns a scheme of these kinds. If two tokens name the same group, version and kind, the later one counts. Mirrors
 * `runtime.Scheme`, except that decoding is left to JSON, and defaults and conversion to the server.
 *
 * @example
 * ```ts
 * import { createScheme } from '@kctl/apimachinery';
 * import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
 *
 * const scheme = createScheme([Pod, ConfigMap]);
 * console.log(scheme.kindFor({ group: '', version: 'v1', kind: 'Pod' }).plural); // pods
 * ```
 */
export function createScheme(kinds: readonly Kind[] = []): Scheme {
  requireObjects('createScheme', 'kinds', kinds, 'a list of kinds, such as those of defineKind(…)');
  const byKind = new Map<string, Kind>();
  const byResource = new Map<string, Kind>();
  const versions = new Map<string, Kind[]>();
  for (const kind of kinds) byKind.set(formatGroupVersionKind(kind), kind);
  for (const kind of byKind.values()) {
    byResource.set(`${kind.apiVersion}/${kind.plural}`, kind);
    const name = formatGroupKind(kind);
    versions.set(
      name,
      [...(versions.get(name) ?? []), kind].sort((a, b) => compareVersions(b.version, a.version)),
    );
  }
  const find = (wanted: GroupKind | GroupVersionKind): Kind | undefined =>
    'version' in wanted && wanted.version !== undefined
      ? byKind.get(formatGroupVersionKind(wanted))
      : versions.get(formatGroupKind(wanted))?.[0];
  const scheme: Scheme = {
    kinds: [...byKind.values()],
    kindFor: (wanted) => {
      requireRecord('scheme', 'kind', wanted, 'an object with group and kind, and version where there is one');
      const kind = find(wanted);
      if (kind === undefined) throw new NoKindMatchError(wanted);
      return kind;
    },
    kindForResource: ({ group, version, resource }) =>
      byResource.get(`${group === '' ? version : `${group}/${version}`}/${resource}`),
    kindOf: (object) => {
      requireRecord('scheme', 'object', object, 'an object with apiVersion and kind');
      const { apiVersion, kind } = object;
      if (typeof apiVersion !== 'string' || typeof kind !== 'string')
        throw new TypeError(`scheme: the object lacks its ${typeof apiVersion === 'string' ? 'kind' : 'apiVersion'}`);
      return scheme.kindFor({ ...parseApiVersion(apiVersion), kind });
    },
    has: (kind) => byKind.has(formatGroupVersionKind(kind)),
    with: (...more) =>
      createScheme([...byKind.values()].filter((kind) => !more.some((other) => isSameKind(kind, other))).concat(more)),
  };
  return scheme;
}

const versionPattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Orders versions as Kubernetes does, with stable above beta above alpha, then by number; other names come last, in
 * reverse alphabetical order. Mirrors `version.CompareKubeAwareVersionStrings` and is positive when `a` ranks higher.
 */
export function compareVersions(a: string, b: string): number {
  const left = rank(a);
  const right = rank(b);
  if (left === undefined || right === undefined)
    return left !== undefined ? 1 : right !== undefined ? -1 : a === b ? 0 : a < b ? 1 : -1;
  for (const [index, value] of left.entries()) {
    const difference = value - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function rank(version: string): readonly number[] | undefined {
  const match = versionPattern.exec(version);
  if (match === null) return undefined;
  const [, major, stability, minor = 0] = match;
  return [stability === undefined ? 2 : stability === 'beta' ? 1 : 0, Number(major), Number(minor)];
}
