import { defineKind, formatApiVersion, type KindScope, type UntypedObject } from '@kctl/apimachinery';
import { crdGroup, crdVersions } from '../engine/definition/crd-names.js';
import { at, objectOf, stringOf, type JsonObject } from '../engine/values/json.js';

/** Input of a module, one kind of one group version. */
export interface KindFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: KindScope;
  readonly listKind: string;
  /** Verbs that the server supports; undefined if it supports all verbs of custom resources. */
  readonly verbs?: readonly string[];
  readonly schema: JsonObject;
  /** Schemas that references lead to, by name. Present if the kind comes from an OpenAPI document. */
  readonly models?: JsonObject;
}

/**
 * Checks names that are used in TypeScript and paths, which must be those of a kind, or empty. @throws TypeError naming
 * the field
 */
export function checkedFacts(facts: KindFacts): KindFacts {
  const { group, version, kind, plural, scope, listKind } = facts;
  // defineKind has the API server's rules for names, and what is generated calls it with these.
  defineKind({ group, version, kind, plural, scope });
  defineKind({ group, version, kind: listKind, plural, scope });
  return facts;
}

/** The kinds of a CustomResourceDefinition, one for each version. */
export function factsOfDefinition(crd: UntypedObject, onlyServed: boolean): KindFacts[] {
  const names = objectOf(at(crd, 'spec', 'names'));
  const kind = stringOf(names['kind']);
  return crdVersions(crd)
    .filter((version) => !onlyServed || version['served'] === true)
    .map((version) =>
      checkedFacts({
        group: crdGroup(crd),
        version: stringOf(version['name']),
        kind,
        plural: stringOf(names['plural']),
        scope: stringOf(at(crd, 'spec', 'scope')) === 'Cluster' ? 'Cluster' : 'Namespaced',
        listKind: stringOf(names['listKind']) || `${kind}List`,
        schema: objectOf(at(version, 'schema', 'openAPIV3Schema')),
      }),
    );
}

/** `example.com/v1` of a kind. */
export function apiVersionOf({ group, version }: KindFacts): string {
  return formatApiVersion(group, version);
}
