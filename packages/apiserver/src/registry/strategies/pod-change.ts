import type { UntypedObject } from '@kctl/apimachinery';
import {
  arrayOf,
  at,
  cloneJson,
  equalSemantic,
  forbidden,
  invalidValue,
  numberOf,
  objectOf,
  objectsOf,
  rangeError,
  stringOf,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';

const changeable =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function withoutImages(spec: JsonObject, old: JsonObject, name: string): void {
  const before = objectsOf(old[name]);
  for (const [index, container] of objectsOf(spec[name]).entries()) container['image'] = before[index]?.['image'];
}

function validateDeadline(spec: JsonObject, old: JsonObject): FieldError[] {
  const field = 'spec.activeDeadlineSeconds';
  const after = numberOf(spec['activeDeadlineSeconds']);
  const before = numberOf(old['activeDeadlineSeconds']);
  if (after === undefined) {
    return before === undefined
      ? []
      : [invalidValue(field, null, 'must not update from a positive integer to nil value')];
  }
  if (after < 0 || after > 2 ** 31 - 1) return [invalidValue(field, after, rangeError(0, 2 ** 31 - 1))];
  return before !== undefined && before < after
    ? [invalidValue(field, after, 'must be less than or equal to previous value')]
    : [];
}

/** Every toleration must stay; only for how long it holds may change. */
function validateTolerations(spec: JsonObject, old: JsonObject): FieldError[] {
  const kept = objectsOf(spec['tolerations']);
  const isKept = objectsOf(old['tolerations']).every((before) =>
    kept.some((after) => equalSemantic({ ...before, tolerationSeconds: after['tolerationSeconds'] }, after)),
  );
  return isKept
    ? []
    : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function validateGates(spec: JsonObject, old: JsonObject): FieldError[] {
  const before = new Set(objectsOf(old['schedulingGates']).map((gate) => stringOf(gate['name'])));
  return objectsOf(spec['schedulingGates']).flatMap((gate, index) => {
    const name = stringOf(gate['name']);
    return before.has(name)
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ];
  });
}

/** A gated pod may be narrowed to fewer nodes, so its selector may grow. */
function validateNodeSelector(spec: JsonObject, old: JsonObject): FieldError[] {
  const after = objectOf(spec['nodeSelector']);
  const isKept = Object.entries(objectOf(old['nodeSelector'])).every(([key, value]) => after[key] === value);
  if (isKept) return [];
  const message = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [invalidValue('spec.nodeSelector', spec['nodeSelector'] ?? null, message)];
}

const requiredTerms = ['affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'] as const;

/** A gated pod may be narrowed to fewer nodes, so each required term may get further requirements. */
function validateNodeAffinity(spec: JsonObject, old: JsonObject): FieldError[] {
  const field = `spec.${requiredTerms.join('.')}.nodeSelectorTerms`;
  const before = objectsOf(at(old, ...requiredTerms, 'nodeSelectorTerms'));
  if (before.length === 0) return [];
  const after = objectsOf(at(spec, ...requiredTerms, 'nodeSelectorTerms'));
  if (before.length !== after.length) {
    return [invalidValue(field, after, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return after.flatMap((term, index) =>
    hasOnlyAdditions(term, before[index] ?? {})
      ? []
      : [invalidValue(`${field}[${index}]`, term, 'only additions are allowed (no mutations or deletions)')],
  );
}

function hasOnlyAdditions(term: JsonObject, old: JsonObject): boolean {
  const lists = ['matchExpressions', 'matchFields'].map((name) => [arrayOf(term[name]), arrayOf(old[name])] as const);
  // A term without requirements matches nothing, and with one it would match more.
  if (lists.every(([, before]) => before.length === 0)) return lists.every(([after]) => after.length === 0);
  return lists.every(([after, before]) => equalSemantic(after.slice(0, before.length), before));
}

function withoutNodeAffinity(spec: JsonObject): JsonObject {
  const { nodeAffinity: _nodeAffinity, ...others } = objectOf(spec['affinity']);
  return others;
}

/** Checks the changes to an existing pod. */
export function validatePodChange(object: UntypedObject, old: UntypedObject): FieldError[] {
  const spec = cloneJson(objectOf(object['spec']));
  const before = objectOf(old['spec']);
  for (const name of ['containers', 'initContainers']) {
    if (arrayOf(spec[name]).length !== arrayOf(before[name]).length) {
      return [forbidden(`spec.${name}`, 'pod updates may not add or remove containers')];
    }
  }
  const errors = validateDeadline(spec, before);
  // Only a deadline that is taken off lets upstream look further.
  if (errors.length > 0 && spec['activeDeadlineSeconds'] !== undefined) return errors;
  errors.push(...validateTolerations(spec, before), ...validateGates(spec, before));
  const same = { ...before };
  if (arrayOf(before['schedulingGates']).length > 0) {
    errors.push(...validateNodeSelector(spec, before), ...validateNodeAffinity(spec, before));
    spec['nodeSelector'] = before['nodeSelector'];
    spec['affinity'] = withoutNodeAffinity(spec);
    same['affinity'] = withoutNodeAffinity(before);
  }
  withoutImages(spec, before, 'containers');
  withoutImages(spec, before, 'initContainers');
  for (const name of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) spec[name] = before[name];
  if (!equalSemantic(spec, same)) {
    errors.push(forbidden('spec', `pod updates may not change fields other than ${changeable}`));
  }
  return errors;
}
