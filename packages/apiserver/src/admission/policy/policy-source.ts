import type { UntypedObject } from '@kctl/apimachinery';
import { at, stringOf } from '@kctl/crd/internal/engine';
import type { Store } from '../../storage/store.js';
import { readMatchResources, type MatchResources } from './match-resources.js';

/** A binding of a policy, read. */
export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly match: MatchResources;
  readonly paramRef: unknown;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A policy with what its kind has compiled of it, and its bindings. */
export interface BoundPolicy<T> {
  readonly policy: T;
  readonly bindings: readonly PolicyBinding[];
}

function readBinding(object: UntypedObject): PolicyBinding {
  const spec = at(object, 'spec');
  return {
    name: object.metadata.name ?? '',
    policyName: stringOf(at(spec, 'policyName')),
    match: readMatchResources(at(spec, 'matchResources')),
    paramRef: at(spec, 'paramRef'),
    spec: typeof spec === 'object' && spec !== null ? { ...spec } : {},
  };
}

/** All policies of one kind that have bindings, by name. Each object is read once. */
export function createPolicySource<T>(
  store: Store,
  plurals: { readonly policies: string; readonly bindings: string },
  read: (policy: UntypedObject) => T,
): () => readonly BoundPolicy<T>[] {
  const policies = new WeakMap<UntypedObject, { readonly policy: T }>();
  const bindings = new WeakMap<UntypedObject, PolicyBinding>();
  const tableOf = (plural: string): ReturnType<Store['table']> => store.table(`admissionregistration.k8s.io/${plural}`);
  return () => {
    const bound = tableOf(plurals.bindings);
    const table = tableOf(plurals.policies);
    if (bound.size === 0 || table.size === 0) return [];
    const byPolicy = new Map<string, PolicyBinding[]>();
    for (const [, { object }] of bound.scan({})) {
      const binding = bindings.get(object) ?? readBinding(object);
      bindings.set(object, binding);
      const list = byPolicy.get(binding.policyName) ?? [];
      list.push(binding);
      byPolicy.set(binding.policyName, list);
    }
    const found: BoundPolicy<T>[] = [];
    for (const [, { object }] of table.scan({})) {
      const own = byPolicy.get(object.metadata.name ?? '');
      if (own === undefined) continue;
      const known = policies.get(object) ?? { policy: read(object) };
      policies.set(object, known);
      found.push({ policy: known.policy, bindings: own });
    }
    return found;
  };
}
