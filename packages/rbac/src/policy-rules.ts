import type { PolicyRule } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { requireNeeds } from './require-arguments.js';
import { sortVerbs, type AccessNeed, type AccessVerb } from './access-need.js';

/** Rules by scope. */
export interface ScopedRules {
  /** For a ClusterRole. */
  readonly cluster: readonly PolicyRule[];
  /** For a Role in each namespace, by its name, in alphabetical order. */
  readonly namespaces: ReadonlyMap<string, readonly PolicyRule[]>;
}

/** Verbs on one resource, for one set of names. */
interface Grant {
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[];
  readonly verbs: ReadonlySet<AccessVerb>;
}

/**
 * The least rules that grant what is needed, the same for the same needs in any order. A resource appears once per set
 * of names, resources with the same verbs share a rule, and a Role does not repeat rights that the ClusterRole grants.
 *
 * @throws TypeError for a value that is not a list of needs
 */
export function policyRules(needs: readonly AccessNeed[]): ScopedRules {
  requireNeeds('policyRules', needs);
  const cluster = collect(needs.filter(({ namespaces }) => namespaces === undefined));
  const names = new Set(needs.flatMap(({ namespaces = [] }) => namespaces));
  const namespaces = [...names].sort().map((namespace): [string, PolicyRule[]] => {
    const here = collect(needs.filter((need) => need.namespaces?.includes(namespace) === true));
    return [namespace, toRules(here.flatMap((grant) => without(grant, cluster)))];
  });
  return { cluster: toRules(cluster), namespaces: new Map(namespaces.filter(([, rules]) => rules.length > 0)) };
}

function collect(needs: readonly AccessNeed[]): Grant[] {
  const grants = new Map<string, { grant: Omit<Grant, 'verbs'>; verbs: Set<AccessVerb> }>();
  for (const { group, resource, names = [], verbs } of needs) {
    const sorted = [...new Set(names)].sort();
    const id = JSON.stringify([group, resource, sorted]);
    const known = grants.get(id) ?? { grant: { group, resource, names: sorted }, verbs: new Set() };
    for (const verb of verbs) known.verbs.add(verb);
    grants.set(id, known);
  }
  const all = [...grants.values()].map(({ grant, verbs }): Grant => ({ ...grant, verbs }));
  // Rights granted on every object need not be granted on named ones.
  return all.flatMap((grant) =>
    grant.names.length === 0
      ? [grant]
      : without(
          grant,
          all.filter(({ names }) => names.length === 0),
        ),
  );
}

/** The rights of a grant beyond those of others; none if others cover it. */
function without(grant: Grant, others: readonly Grant[]): Grant[] {
  const covers = (other: Grant): boolean =>
    other.group === grant.group &&
    other.resource === grant.resource &&
    (other.names.length === 0 || (grant.names.length > 0 && grant.names.every((name) => other.names.includes(name))));
  const covered = others.filter(covers);
  const verbs = new Set([...grant.verbs].filter((verb) => !covered.some((other) => other.verbs.has(verb))));
  return verbs.size === 0 ? [] : [{ ...grant, verbs }];
}

function toRules(grants: readonly Grant[]): PolicyRule[] {
  const rules = new Map<
    string,
    { group: string; resources: string[]; names: readonly string[]; verbs: AccessVerb[] }
  >();
  for (const { group, resource, names, verbs } of [...grants].sort(byResource)) {
    const sorted = sortVerbs(verbs);
    const id = JSON.stringify([group, names, sorted]);
    const rule = rules.get(id) ?? { group, resources: [], names, verbs: sorted };
    rule.resources.push(resource);
    rules.set(id, rule);
  }
  return [...rules.values()].map(({ group, resources, names, verbs }) => ({
    apiGroups: [group],
    resources,
    ...(names.length === 0 ? {} : { resourceNames: [...names] }),
    verbs,
  }));
}

function byResource(left: Grant, right: Grant): number {
  const text = ({ group, resource, names }: Grant): string => [group, resource, ...names].join('\0');
  return text(left) < text(right) ? -1 : 1;
}
