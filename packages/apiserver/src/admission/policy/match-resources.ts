import type { UntypedObject } from '@kctl/apimachinery';
import { isStatusError } from '@kctl/apimachinery';
import { objectOf, stringOf } from '@kctl/crd/internal/engine';
import { matchRules, type MatchedResource } from '../matching/equivalents.js';
import { readRules, type AdmissionRule } from '../matching/rules.js';
import { namespaceMatches, objectMatches } from '../matching/selectors.js';
import type { MatchBackend } from '../webhook/invocation.js';
import type { AdmissionWrite, WriteFacts } from '../write.js';

/** `matchConstraints` of a policy, `matchResources` of a binding: read. */
export interface MatchResources {
  readonly rules: readonly AdmissionRule[];
  readonly excluded: readonly AdmissionRule[];
  readonly matchPolicy: string;
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
}

export function readMatchResources(value: unknown): MatchResources {
  const source = objectOf(value);
  return {
    rules: readRules(source['resourceRules']),
    excluded: readRules(source['excludeResourceRules']),
    matchPolicy: stringOf(source['matchPolicy']) || 'Equivalent',
    namespaceSelector: source['namespaceSelector'],
    objectSelector: source['objectSelector'],
  };
}

/** Whether rules may concern a write, before anything is read. */
export function mayMatch(
  { registry }: MatchBackend,
  { rules, matchPolicy }: MatchResources,
  facts: WriteFacts,
): boolean {
  return rules.length === 0 || matchRules(registry, { rules, matchPolicy }, facts) !== undefined;
}

function namedMatch(
  { registry }: MatchBackend,
  rules: readonly AdmissionRule[],
  matchPolicy: string,
  write: AdmissionWrite,
): MatchedResource | undefined {
  const named = rules.filter(({ resourceNames }) => resourceNames.length === 0 || resourceNames.includes(write.name));
  return matchRules(registry, { rules: named, matchPolicy }, write);
}

/**
 * Returns how a policy or binding sees a write; undefined if it does not concern it.
 *
 * @throws StatusError 404 if the namespace of the write is missing
 */
export function matchResources(
  backend: MatchBackend,
  match: MatchResources,
  write: AdmissionWrite,
): MatchedResource | undefined {
  let missing: unknown;
  try {
    if (!namespaceMatches(backend.store, match.namespaceSelector, write)) return undefined;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    missing = error;
  }
  if (!objectMatches(match.objectSelector, write)) return undefined;
  if (namedMatch(backend, match.excluded, match.matchPolicy, write) !== undefined) return undefined;
  const matched = match.rules.length === 0 ? own(write) : namedMatch(backend, match.rules, match.matchPolicy, write);
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- a StatusError, caught above
  if (matched !== undefined && missing !== undefined) throw missing;
  return matched;
}

const anyRule: AdmissionRule = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*'],
  scope: '*',
  resourceNames: [],
};

function own({ definition, resource, kind }: AdmissionWrite): MatchedResource {
  return { definition, resource, kind, rule: anyRule };
}

/** The Namespace that a write is in; undefined for what is cluster-scoped and for namespaces themselves. */
export function namespaceOf({ store }: MatchBackend, { namespace, kind }: AdmissionWrite): UntypedObject | undefined {
  if (namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return undefined;
  return store.table('/namespaces').get(namespace)?.object;
}
