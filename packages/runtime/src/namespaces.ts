import { nameFilter } from '@kctl/apimachinery';
import type { NamespaceScopes, NamespaceSelection } from '@kctl/cache';
import { optionProblems, shownValue } from '@kctl/options';

/**
 * The namespaces that a manager works in. Either `all`, or `own` (that of the pod, or of the kubeconfig's context), or
 * `environment` (the comma-separated list in `WATCH_NAMESPACE`; all if unset or empty), or names and patterns such as
 * `team-*` and `!kube-*`, or a selection by names and labels of Namespaces. Patterns and labels are followed while it
 * runs, which needs the right to list and watch Namespaces.
 */
export type WatchedNamespaces = 'all' | 'own' | 'environment' | readonly string[] | NamespaceSelection;

/** Namespaces for a cache, either those known now or a selection to follow. */
export type ResolvedNamespaces =
  | { readonly scopes: NamespaceScopes | undefined }
  | { readonly selection: NamespaceSelection };

/** Input of {@link resolveNamespaces}. */
export interface NamespaceSources {
  /** That of the connection. */
  readonly own: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @throws TypeError when it is not valid, or if the own namespace is not known */
export function resolveNamespaces(namespaces: WatchedNamespaces, sources: NamespaceSources): ResolvedNamespaces {
  if (namespaces === 'all') return { scopes: undefined };
  if (namespaces === 'own') {
    const { own } = sources;
    if (own === undefined || own === '')
      throw new TypeError(
        "namespaces 'own': the namespace of this process is not known: not in a pod, and the context has none",
      );
    return { scopes: { [own]: {} } };
  }
  if (namespaces === 'environment') {
    const names = (sources.environment['WATCH_NAMESPACE'] ?? '').split(',').map((name) => name.trim());
    const given = names.filter((name) => name !== '');
    return given.length === 0 ? { scopes: undefined } : listed(given);
  }
  if (isList(namespaces)) return listed(namespaces);
  const value: unknown = namespaces;
  if (typeof value !== 'object' || value === null)
    throw new TypeError(
      `namespaces ${shownValue(value)} is not valid: expected "all", "own", "environment", a list of names, or { names, labelSelector }`,
    );
  const problems = optionProblems(namespaces, { names: true, labelSelector: true }, 'namespaces');
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  if (namespaces.names !== undefined) nameFilter(namespaces.names);
  return { selection: namespaces };
}

function isList(namespaces: WatchedNamespaces): namespaces is readonly string[] {
  return Array.isArray(namespaces);
}

function listed(patterns: readonly string[]): ResolvedNamespaces {
  const { names } = nameFilter(patterns);
  if (names === undefined) return { selection: { names: patterns } };
  if (names.length === 0) throw new TypeError(`namespaces ${JSON.stringify(patterns)} choose no namespace`);
  return { scopes: Object.fromEntries(names.map((name) => [name, {}])) };
}
