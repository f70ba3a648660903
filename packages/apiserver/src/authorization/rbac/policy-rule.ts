import type { UntypedObject } from '@kctl/apimachinery';
import { objectsOf, stringsOf } from '@kctl/crd/internal/engine';
import type { Attributes } from '../attributes.js';

/** A rule of a Role or ClusterRole; what is absent there is an empty list. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Rules by the object that holds them. An object never changes, so its rules are read once. */
const known = new WeakMap<UntypedObject, readonly PolicyRule[]>();

/** The rules of a stored Role or ClusterRole. */
export function rulesOf(role: UntypedObject): readonly PolicyRule[] {
  let rules = known.get(role);
  if (rules === undefined) {
    rules = readRules(role);
    known.set(role, rules);
  }
  return rules;
}

/** The rules of a Role or ClusterRole that may still change. */
export function readRules(role: UntypedObject): PolicyRule[] {
  return objectsOf(role['rules']).map((rule) => ({
    verbs: stringsOf(rule['verbs']),
    apiGroups: stringsOf(rule['apiGroups']),
    resources: stringsOf(rule['resources']),
    resourceNames: stringsOf(rule['resourceNames']),
    nonResourceURLs: stringsOf(rule['nonResourceURLs']),
  }));
}

/** Whether a rule allows the requested access. */
export function allows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResource) return rule.nonResourceURLs.some((url) => coversUrl(url, attributes.path));
  const { resourceNames } = rule;
  return (
    includes(rule.apiGroups, attributes.group) &&
    matchesResource(rule.resources, attributes) &&
    (resourceNames.length === 0 || resourceNames.includes(attributes.name))
  );
}

function includes(values: readonly string[], value: string): boolean {
  return values.includes('*') || values.includes(value);
}

function matchesResource(resources: readonly string[], { resource, subresource }: Attributes): boolean {
  if (subresource === '') return includes(resources, resource);
  return includes(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

/** Whether one URL of a rule, perhaps with `*` at its end, stands for another. */
export function coversUrl(rule: string, url: string): boolean {
  return rule === url || (rule.endsWith('*') && url.startsWith(rule.replace(/\*+$/, '')));
}
