import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  cloneJson,
  invalidValue,
  isObject,
  numberOf,
  stringOf,
  subdomainName,
  validateMetadata,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { decodeBodyKind } from '../resource/body-kind.js';
import type { Decoded, DecodeInput, ObjectView } from '../resource/resource.js';
import { formatLabelSelector } from '../resource/label-selector.js';

const expected = { apiVersion: 'autoscaling/v1', group: 'autoscaling', kind: 'Scale', version: 'v1' };

/** An autoscaling/v1 Scale of an object. */
export function scaleOf(object: UntypedObject, replicas: number, status: JsonObject): UntypedObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const metadata: UntypedObject['metadata'] = {};
  if (name !== undefined) metadata.name = name;
  if (namespace !== undefined) metadata.namespace = namespace;
  if (uid !== undefined) metadata.uid = uid;
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
  if (creationTimestamp !== undefined) metadata.creationTimestamp = creationTimestamp;
  const spec = replicas === 0 ? {} : { replicas };
  return { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec, status };
}

/** Decodes a Scale from a body or a patched view. */
export function decodeScale(input: DecodeInput): Decoded {
  return decodeBodyKind(input, expected);
}

/** Validates a Scale. */
export function validateScale(view: UntypedObject): FieldError[] {
  const errors = validateMetadata(view, { namespaced: true, nameRule: subdomainName });
  const replicas = numberOf(at(view, 'spec', 'replicas')) ?? 0;
  if (replicas < 0) errors.push(invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'));
  return errors;
}

/** The scale subresource of Deployment, ReplicaSet, StatefulSet and ReplicationController. */
export function workloadScale(): ObjectView {
  return {
    kind: expected,
    replicasPath: ['spec', 'replicas'],
    show(object) {
      const selector = formatLabelSelector(at(object, 'spec', 'selector'));
      const status: JsonObject = { replicas: numberOf(at(object, 'status', 'replicas')) ?? 0 };
      if (selector !== '') status['selector'] = selector;
      return scaleOf(object, numberOf(at(object, 'spec', 'replicas')) ?? 0, status);
    },
    decode: decodeScale,
    validate: validateScale,
    write(view, object) {
      const copy = cloneJson(object);
      const spec = isObject(copy['spec']) ? copy['spec'] : {};
      spec['replicas'] = numberOf(at(view, 'spec', 'replicas')) ?? 0;
      copy['spec'] = spec;
      const version = stringOf(view.metadata.resourceVersion);
      if (version !== '') copy.metadata.resourceVersion = version;
      return copy;
    },
  };
}
