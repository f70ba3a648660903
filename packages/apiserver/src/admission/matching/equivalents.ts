import type { UntypedObject } from '@kctl/apimachinery';
import { cloneJson } from '@kctl/crd/internal/engine';
import type { Registry } from '../../registry/registry.js';
import type { KindRef, ResourceDefinition } from '../../resource/resource.js';
import type { ResourceRef, WriteFacts } from '../write.js';
import { ruleMatches, type AdmissionRule } from './rules.js';

/** The resource and kind as which a webhook or a policy sees a write. */
export interface MatchedResource {
  readonly definition: ResourceDefinition;
  readonly resource: ResourceRef;
  readonly kind: KindRef;
  /** The rule that matched. */
  readonly rule: AdmissionRule;
}

/** Group, version and plural of a definition. */
export function resourceOf({ group, version, plural }: ResourceDefinition): ResourceRef {
  return { group, version, resource: plural };
}

/** The kind that is written through a subresource of a definition. */
export function kindOf(definition: ResourceDefinition, subresource: string): KindRef {
  const { group, version, kind } = definition;
  const found = definition.subresources.get(subresource);
  switch (found?.type) {
    case 'view':
      return found.view.kind;
    case 'action':
      return found.accepts;
    case 'connect':
      return found.kind;
    case 'self':
    case undefined:
      return { group, version, kind };
  }
}

/** The other served versions of what a write is about, in the order in which they are served. */
function equivalentsOf(registry: Registry, { definition, subresource }: WriteFacts): ResourceDefinition[] {
  const versions = registry.list().filter(({ storageKey }) => storageKey === definition.storageKey);
  return versions.filter((each) => each !== definition && (subresource === '' || each.subresources.has(subresource)));
}

/**
 * The first rule that matches a write, and the version that it names. With `Equivalent`, a rule for another served
 * version of the resource also matches if no rule names the version of the request.
 */
export function matchRules(
  registry: Registry,
  { rules, matchPolicy }: { readonly rules: readonly AdmissionRule[]; readonly matchPolicy: string },
  facts: WriteFacts,
): MatchedResource | undefined {
  const { definition, resource, kind, subresource } = facts;
  const exact = rules.find((rule) => ruleMatches(rule, facts, resource));
  if (exact !== undefined) return { definition, resource, kind, rule: exact };
  if (matchPolicy !== 'Equivalent') return undefined;
  const equivalents = equivalentsOf(registry, facts);
  for (const rule of rules) {
    const found = equivalents.find((each) => ruleMatches(rule, facts, resourceOf(each)));
    if (found !== undefined)
      return { definition: found, resource: resourceOf(found), kind: kindOf(found, subresource), rule };
  }
  return undefined;
}

/** Whether two kinds are one. */
export function isSameKind(a: KindRef, b: KindRef): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind;
}

/**
 * An object of one served version in another one of the same resource. The argument stays as it is.
 *
 * @throws StatusError 500 if a conversion webhook fails
 */
export async function convertObject(
  object: UntypedObject,
  from: ResourceDefinition,
  to: ResourceDefinition,
): Promise<UntypedObject> {
  if (from === to) return object;
  if (to.conversion !== undefined) return to.conversion.convert(object, to.apiVersion);
  // Without a webhook a custom resource has the same content in all versions; what is not known there goes at the commit.
  if (to.isCustom) return { ...object, apiVersion: to.apiVersion };
  const converted = to.fromStorage(from.toStorage(cloneJson(object)));
  return { ...converted, kind: to.kind, apiVersion: to.apiVersion };
}
