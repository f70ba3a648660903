import { at, objectsOf, stringOf, stringsOf } from '@kctl/crd/internal/engine';
import type { ResourceRef, WriteFacts } from '../write.js';

/** Operations and resources that a rule of a webhook or a policy matches. */
export interface AdmissionRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, and the same with `*` for the resource. */
  readonly resources: readonly string[];
  /** `Cluster`, `Namespaced` or `*`. */
  readonly scope: string;
  /** Names that the rule matches, for policies only. Empty matches all. */
  readonly resourceNames: readonly string[];
}

/** Reads rules that have been validated. */
export function readRules(value: unknown): AdmissionRule[] {
  return objectsOf(value).map((rule) => ({
    operations: stringsOf(rule['operations']),
    apiGroups: stringsOf(rule['apiGroups']),
    apiVersions: stringsOf(rule['apiVersions']),
    resources: stringsOf(rule['resources']),
    scope: stringOf(at(rule, 'scope')) || '*',
    resourceNames: stringsOf(rule['resourceNames']),
  }));
}

function listed(items: readonly string[], wanted: string): boolean {
  return items.includes('*') || items.includes(wanted);
}

function isNamespace({ group, version, resource }: ResourceRef): boolean {
  return group === '' && version === 'v1' && resource === 'namespaces';
}

function scopeMatches(scope: string, resource: ResourceRef, namespace: string): boolean {
  const isCluster = namespace === '' || isNamespace(resource);
  return scope === '*' || (scope === 'Cluster' ? isCluster : scope === 'Namespaced' && !isCluster);
}

function resourceMatches(given: string, resource: string, subresource: string): boolean {
  const slash = given.indexOf('/');
  const main = slash < 0 ? given : given.slice(0, slash);
  const sub = slash < 0 ? '' : given.slice(slash + 1);
  return (main === '*' || main === resource) && (sub === '*' || sub === subresource);
}

/** Whether a rule is about a write, taken as one of `resource`. Names are not looked at. */
export function ruleMatches(
  rule: AdmissionRule,
  { operation, subresource, namespace }: Pick<WriteFacts, 'operation' | 'subresource' | 'namespace'>,
  resource: ResourceRef,
): boolean {
  return (
    scopeMatches(rule.scope, resource, namespace) &&
    listed(rule.operations, operation) &&
    listed(rule.apiGroups, resource.group) &&
    listed(rule.apiVersions, resource.version) &&
    rule.resources.some((given) => resourceMatches(given, resource.resource, subresource))
  );
}
