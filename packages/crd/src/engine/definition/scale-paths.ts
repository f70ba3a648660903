import type { UntypedObject } from '@kctl/apimachinery';
import { invalidValue, type FieldError } from '../values/field-error.js';
import { at, isObject, numberOf, stringOf } from '../values/json.js';
import { simplePath } from '../schema/simple-path.js';

/** Paths of the replicas of a CRD. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string;
}

/** Reads `subresources.scale` of a CRD's version. */
export function readScalePaths(value: unknown): ScalePaths | undefined {
  if (!isObject(value)) return undefined;
  const selector = stringOf(value['labelSelectorPath']);
  const paths = {
    specReplicas: stringOf(value['specReplicasPath']),
    statusReplicas: stringOf(value['statusReplicasPath']),
  };
  return selector === '' ? paths : { ...paths, labelSelector: selector };
}

function checkReplicas(object: UntypedObject, path: string): FieldError[] {
  const value = at(object, ...simplePath(path));
  if (value === undefined) return [];
  const replicas = numberOf(value);
  if (replicas === undefined || !Number.isInteger(replicas)) {
    return [
      invalidValue(
        path,
        0,
        `${path} accessor error: ${JSON.stringify(value)} is of the type ${typeof value}, expected int64`,
      ),
    ];
  }
  if (replicas < 0) return [invalidValue(path, replicas, 'should be a non-negative integer')];
  return replicas > 2 ** 31 - 1 ? [invalidValue(path, replicas, 'should be less than or equal to 2147483647')] : [];
}

/** Checks the fields that the scale subresource reads; those of the spec only if `withSpec` is set. */
export function validateScalePaths(
  object: UntypedObject,
  paths: ScalePaths | undefined,
  withSpec: boolean,
): FieldError[] {
  if (paths === undefined) return [];
  const errors = withSpec ? checkReplicas(object, paths.specReplicas) : [];
  errors.push(...checkReplicas(object, paths.statusReplicas));
  const selector = paths.labelSelector === undefined ? undefined : at(object, ...simplePath(paths.labelSelector));
  if (selector !== undefined && typeof selector !== 'string') {
    const path = paths.labelSelector ?? '';
    errors.push(
      invalidValue(
        path,
        '',
        `${path} accessor error: ${JSON.stringify(selector)} is of the type ${typeof selector}, expected string`,
      ),
    );
  }
  return errors;
}
