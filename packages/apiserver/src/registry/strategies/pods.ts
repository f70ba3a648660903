import type { UntypedObject } from '@kctl/apimachinery';
import { forbidden, invalidValue, type FieldError } from '../field-error.js';
import {
  arrayOf,
  at,
  cloneJson,
  ensureObject,
  equalSemantic,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '../json.js';
import type { KindStrategy } from '../kind-strategy.js';
import type { UpdateStrategy, WriteContext } from '../resource.js';
import { rangeError } from '../name-rules.js';
import { podWarnings, validatePodSpec } from './pod-spec.js';
import { qosClass } from './qos.js';

function isGated(object: UntypedObject): boolean {
  return objectsOf(at(object, 'spec', 'schedulingGates')).length > 0;
}

/** Tolerations that every pod gets by admission: 300 s on nodes that are not ready or not reachable. */
function addNodeTolerations(spec: JsonObject): void {
  const tolerations = objectsOf(spec['tolerations']);
  for (const state of ['not-ready', 'unreachable']) {
    const key = `node.kubernetes.io/${state}`;
    const isTolerated = tolerations.some(
      (each) =>
        (each['key'] === key || stringOf(each['key']) === '') &&
        (each['effect'] === 'NoExecute' || stringOf(each['effect']) === ''),
    );
    if (!isTolerated) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  }
  spec['tolerations'] = tolerations;
}

const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Priority by class: by name, else the cluster's default, else 0. As the Priority admission plug-in does. */
function setPriority(spec: JsonObject, context: WriteContext): void {
  const name = stringOf(spec['priorityClassName']);
  let policy = 'PreemptLowerPriority';
  let value = systemPriorities[name] ?? 0;
  for (const each of context.objects('scheduling.k8s.io/priorityclasses')) {
    if (name === '' ? each['globalDefault'] !== true : each.metadata.name !== name) continue;
    value = numberOf(each['value']) ?? 0;
    policy = stringOf(each['preemptionPolicy']) || policy;
    if (name === '') spec['priorityClassName'] = each.metadata.name;
  }
  spec['priority'] = value;
  if (spec['preemptionPolicy'] === undefined) spec['preemptionPolicy'] = policy;
}

function prepareForCreate(object: UntypedObject, context: WriteContext): void {
  const spec = ensureObject(object, 'spec');
  if ((numberOf(spec['terminationGracePeriodSeconds']) ?? 0) < 0) spec['terminationGracePeriodSeconds'] = 1;
  addNodeTolerations(spec);
  setPriority(spec, context);
  const status: JsonObject = { phase: 'Pending', qosClass: qosClass(spec) };
  object['status'] = status;
  if (!isGated(object)) return;
  status['conditions'] = [
    {
      type: 'PodScheduled',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: context.now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ];
}

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

function validateChange(object: UntypedObject, old: UntypedObject): FieldError[] {
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
  const kept = arrayOf(spec['tolerations']);
  if (!arrayOf(before['tolerations']).every((each) => kept.some((other) => equalSemantic(each, other)))) {
    errors.push(forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'));
  }
  const gates = arrayOf(before['schedulingGates']);
  if (!arrayOf(spec['schedulingGates']).every((gate) => gates.some((other) => equalSemantic(gate, other)))) {
    errors.push(forbidden('spec.schedulingGates', 'only deletion is allowed, but found new scheduling gate'));
  }
  withoutImages(spec, before, 'containers');
  withoutImages(spec, before, 'initContainers');
  for (const name of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) spec[name] = before[name];
  if (gates.length > 0) for (const name of ['nodeSelector', 'affinity']) spec[name] = before[name];
  if (!equalSemantic(spec, before)) {
    errors.push(forbidden('spec', `pod updates may not change fields other than ${changeable}`));
  }
  return errors;
}

/** The status of a pod may come with changed labels and annotations, but never with another spec or other owners. */
const status: UpdateStrategy = {
  prepareForUpdate(object, old) {
    object['spec'] = old['spec'];
    if (old.metadata.deletionTimestamp === undefined) delete object.metadata.deletionTimestamp;
    if (old.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences;
    else object.metadata.ownerReferences = old.metadata.ownerReferences;
    const own = ensureObject(object, 'status');
    if (stringOf(own['qosClass']) === '') own['qosClass'] = at(old, 'status', 'qosClass');
  },
  validateUpdate: () => [],
};

const ephemeralContainers: UpdateStrategy = {
  prepareForUpdate(object, old) {
    const added = at(object, 'spec', 'ephemeralContainers');
    object['spec'] = { ...objectOf(old['spec']), ...(added === undefined ? {} : { ephemeralContainers: added }) };
    object['status'] = old['status'];
    if (!equalSemantic(object['spec'], old['spec'])) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validateUpdate: (object, old) => {
    const kept = arrayOf(at(object, 'spec', 'ephemeralContainers'));
    const isComplete = arrayOf(at(old, 'spec', 'ephemeralContainers')).every((each) =>
      kept.some((other) => equalSemantic(each, other)),
    );
    return isComplete
      ? []
      : [forbidden('spec.ephemeralContainers', 'existing ephemeral containers may not be removed or changed')];
  },
};

const resize: UpdateStrategy = {
  prepareForUpdate(object, old) {
    const wanted = objectsOf(at(object, 'spec', 'containers'));
    const spec = cloneJson(objectOf(old['spec']));
    for (const container of objectsOf(spec['containers'])) {
      const match = wanted.find((each) => each['name'] === container['name']);
      if (isObject(match?.['resources'])) container['resources'] = match['resources'];
    }
    object['spec'] = spec;
    object['status'] = old['status'];
    if (!equalSemantic(spec, old['spec'])) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validateUpdate: () => [],
};

function gracePeriodSeconds(object: UntypedObject): number {
  const phase = at(object, 'status', 'phase');
  if (stringOf(at(object, 'spec', 'nodeName')) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  return numberOf(at(object, 'spec', 'terminationGracePeriodSeconds')) ?? 0;
}

function field(...path: readonly string[]): (object: UntypedObject) => string {
  return (object) => stringOf(at(object, ...path));
}

/** Pods. */
export const podStrategies: Readonly<Record<string, KindStrategy>> = {
  '/Pod': {
    generation: 'spec',
    prepareForCreate,
    prepareForUpdate: (object) => addNodeTolerations(ensureObject(object, 'spec')),
    validate: (object) => validatePodSpec(objectOf(object['spec']), 'spec'),
    // Pods are changed by controllers, who would not read warnings.
    warnings: (object, old) => (old === undefined ? podWarnings(objectOf(object['spec']), 'spec') : []),
    validateChange,
    status,
    subresources: { ephemeralcontainers: ephemeralContainers, resize },
    gracePeriodSeconds,
    fields: {
      'spec.nodeName': field('spec', 'nodeName'),
      'spec.restartPolicy': field('spec', 'restartPolicy'),
      'spec.schedulerName': field('spec', 'schedulerName'),
      'spec.serviceAccountName': field('spec', 'serviceAccountName'),
      'spec.hostNetwork': (object) => String(at(object, 'spec', 'hostNetwork') === true),
      'status.phase': field('status', 'phase'),
      'status.podIP': field('status', 'podIP'),
      'status.nominatedNodeName': field('status', 'nominatedNodeName'),
    },
  },
};
