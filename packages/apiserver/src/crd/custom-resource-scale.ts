import {
  at,
  cloneJson,
  ensureObject,
  numberOf,
  simplePath,
  stringOf,
  type JsonObject,
  type ScalePaths,
  goQuoted,
} from '@kctl/crd/internal/engine';
import type { ObjectView } from '../resource/resource.js';
import { decodeScale, scaleOf } from '../registry/scale.js';
import { badRequest, internalError } from '../protocol/status.js';

const unset = -(2 ** 31);

/** The scale subresource of a custom resource. */
export function customResourceScale(paths: ScalePaths): ObjectView {
  return {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    replicasPath: simplePath(paths.specReplicas),
    show(object, isUpdate = false) {
      const replicas = numberOf(at(object, ...simplePath(paths.specReplicas)));
      if (replicas === undefined && !isUpdate) {
        throw internalError(`the spec replicas field ${goQuoted(paths.specReplicas)} does not exist`);
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
        throw badRequest(`the spec replicas field ${goQuoted(paths.specReplicas)} cannot be empty`);
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
