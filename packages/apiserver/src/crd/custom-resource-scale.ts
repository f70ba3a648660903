import type { UntypedObject } from '@kctl/apimachinery';
import { invalidValue, type FieldError } from '../registry/field-error.js';
import { at, cloneJson, ensureObject, isObject, numberOf, stringOf, type JsonObject } from '../registry/json.js';
import type { ObjectView } from '../registry/resource.js';
import { decodeScale, scaleOf } from '../registry/scale.js';
import { badRequest, internalError } from '../registry/status.js';
import { simplePath } from '../schema/json-path.js';

/** Where a CRD keeps its replicas. */
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

const unset = -(2 ** 31);

/** The scale subresource of a custom resource. */
export function customResourceScale(paths: ScalePaths): ObjectView {
  return {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    replicasPath: simplePath(paths.specReplicas),
    show(object, isUpdate = false) {
      const replicas = numberOf(at(object, ...simplePath(paths.specReplicas)));
      if (replicas === undefined && !isUpdate) {
        throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`);
      }
      const status: JsonObject = { replicas: numberOf(at(object, ...simplePath(paths.statusReplicas))) ?? 0 };
      const selector =
        paths.labelSelector === undefined ? '' : stringOf(at(object, ...simplePath(paths.labelSelector)));
      if (selector !== '') status['selector'] = selector;
      return scaleOf(object, replicas ?? unset, status);
    },
    decode: decodeScale,
    // The object behind the view is validated with the number written into it.
    validate: () => [],
    write(view, object) {
      const replicas = numberOf(at(view, 'spec', 'replicas')) ?? 0;
      if (replicas === unset) {
        throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicas)} cannot be empty`);
      }
      const copy = cloneJson(object);
      const path = simplePath(paths.specReplicas);
      const last = path.pop() ?? '';
      let parent: JsonObject = copy;
      for (const step of path) parent = ensureObject(parent, step);
      parent[last] = replicas;
      if (view.metadata.resourceVersion !== undefined) copy.metadata.resourceVersion = view.metadata.resourceVersion;
      return copy;
    },
  };
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

/** Checks the fields that the scale subresource reads; those of the spec only where `withSpec`. */
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
