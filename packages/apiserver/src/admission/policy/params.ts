import type { UntypedObject } from '@kctl/apimachinery';
import { isObject, objectOf, stringOf } from '@kctl/crd/internal/engine';
import { selectorMatches } from '../../resource/label-selector.js';
import type { ResourceDefinition } from '../../resource/resource.js';
import type { MatchBackend } from '../webhook/invocation.js';

/** Thrown if the parameters of a binding cannot be found, which is an error of its configuration. */
export class ParamProblem extends Error {}

function definitionOf({ registry }: MatchBackend, paramKind: unknown): ResourceDefinition | undefined {
  const { apiVersion, kind } = objectOf(paramKind);
  return registry.list().find((each) => each.apiVersion === apiVersion && each.kind === kind);
}

function printed(paramKind: unknown): string {
  const { apiVersion, kind } = objectOf(paramKind);
  return `&ParamKind{APIVersion:${stringOf(apiVersion)},Kind:${stringOf(kind)},}`;
}

function namespaceOfParams(definition: ResourceDefinition, given: string, requested: string): string {
  if (!definition.namespaced) {
    if (given !== '')
      throw new ParamProblem('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return '';
  }
  const namespace = given === '' ? requested : given;
  if (namespace === '') {
    throw new ParamProblem('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  return namespace;
}

function find(
  backend: MatchBackend,
  definition: ResourceDefinition,
  { namespace, name, selector }: { namespace: string; name: string; selector: unknown },
): UntypedObject[] {
  const found: UntypedObject[] = [];
  for (const [, { object }] of backend.store.table(definition.storageKey).scan({})) {
    const { metadata } = object;
    if (definition.namespaced && metadata.namespace !== namespace) continue;
    if (name === '' ? selectorMatches(selector, metadata.labels) : metadata.name === name) {
      const read = definition.fromStorage(object);
      found.push({ ...read, kind: definition.kind, apiVersion: definition.apiVersion });
    }
  }
  return found;
}

/**
 * Returns the parameters for the evaluations of a binding, one evaluation each; `undefined` among them for an
 * evaluation without a parameter. Empty if they are missing and that is allowed.
 *
 * @throws ParamProblem
 */
export function collectParams(
  backend: MatchBackend,
  { paramKind, paramRef }: { readonly paramKind: unknown; readonly paramRef: unknown },
  namespace: string,
): readonly (UntypedObject | undefined)[] {
  if (!isObject(paramKind)) return [undefined];
  const definition = definitionOf(backend, paramKind);
  if (!isObject(paramRef)) {
    if (definition === undefined) throw new ParamProblem(unknownKind(paramKind));
    return [undefined];
  }
  if (definition === undefined) throw new ParamProblem(unknownKind(paramKind));
  const place = namespaceOfParams(definition, stringOf(paramRef['namespace']), namespace);
  const { name, selector } = paramRef;
  const params = find(backend, definition, { namespace: place, name: stringOf(name), selector });
  if (params.length === 0 && paramRef['parameterNotFoundAction'] === 'Deny') {
    throw new ParamProblem('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return params;
}

function unknownKind(paramKind: unknown): string {
  return `paramKind kind \`${printed(paramKind)}\` not known`;
}
