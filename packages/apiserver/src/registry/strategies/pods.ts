import type { UntypedObject } from '@kctl/apimachinery';
import {
  arrayOf,
  at,
  cloneJson,
  ensureObject,
  equalSemantic,
  forbidden,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';
import type { UpdateStrategy, WriteContext } from '../../resource/resource.js';
import { forbiddenObject } from '../../protocol/status.js';
import { validatePodChange } from './pod-change.js';
import { giveServiceAccount } from './pod-service-account.js';
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

interface Priority {
  readonly className: string;
  readonly value: number;
  readonly policy: string;
}

/**
 * The class of a name; without a name the cluster's default, of several the lowest. Undefined if there is no such
 * class.
 */
function findPriority(className: string, context: WriteContext): Priority | undefined {
  let found: Priority | undefined;
  for (const each of context.objects('scheduling.k8s.io/priorityclasses')) {
    if (className === '' ? each['globalDefault'] !== true : each.metadata.name !== className) continue;
    const value = numberOf(each['value']) ?? 0;
    const policy = stringOf(each['preemptionPolicy']) || 'PreemptLowerPriority';
    if (found === undefined || value < found.value) found = { className: each.metadata.name ?? '', value, policy };
  }
  if (found !== undefined) return found;
  const value = className === '' ? 0 : systemPriorities[className];
  return value === undefined ? undefined : { className, value, policy: 'PreemptLowerPriority' };
}

/** Priority by class, as the Priority admission plug-in gives it. @throws StatusError 403 for a class that is not there, or another priority */
function setPriority(pod: UntypedObject, context: WriteContext): void {
  const spec = ensureObject(pod, 'spec');
  const { name = '', generateName = '' } = pod.metadata;
  const refused = (why: string): Error =>
    forbiddenObject({ group: '', plural: 'pods' }, name || generateName || 'Unknown', why);
  const wanted = stringOf(spec['priorityClassName']);
  const priority = findPriority(wanted, context);
  if (priority === undefined) throw refused(`no PriorityClass with name ${wanted} was found`);
  const { className, value, policy } = priority;
  const from = 'from the given PriorityClass name';
  const given = numberOf(spec['priority']);
  if (given !== undefined && given !== value)
    throw refused(
      `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${value} ${from}`,
    );
  const givenPolicy = stringOf(spec['preemptionPolicy']);
  if (givenPolicy !== '' && givenPolicy !== policy)
    throw refused(
      `the string value of PreemptionPolicy (${givenPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} ${from}`,
    );
  if (className !== '') spec['priorityClassName'] = className;
  spec['priority'] = value;
  spec['preemptionPolicy'] = policy;
}

/** Of a pod, though not of a template, a negative grace is read as 1 s. */
function raiseGrace(object: UntypedObject): void {
  const spec = objectOf(object['spec']);
  if ((numberOf(spec['terminationGracePeriodSeconds']) ?? 0) < 0) spec['terminationGracePeriodSeconds'] = 1;
}

/** Values given to a pod by plugins stay when a manifest without them replaces the pod. */
function admit(object: UntypedObject, old: UntypedObject | undefined, context: WriteContext): void {
  const spec = ensureObject(object, 'spec');
  addNodeTolerations(spec);
  if (old === undefined) {
    if (context.podServiceAccounts === true) giveServiceAccount(object, context);
    setPriority(object, context);
    return;
  }
  for (const name of ['priority', 'preemptionPolicy']) {
    const before = at(old, 'spec', name);
    if (spec[name] === undefined && before !== undefined) spec[name] = before;
  }
}

function prepareForCreate(object: UntypedObject, context: WriteContext): void {
  const spec = ensureObject(object, 'spec');
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
    admit,
    default: raiseGrace,
    prepareForCreate,
    validate: (object) => validatePodSpec(objectOf(object['spec']), 'spec'),
    // Pods are changed by controllers, who would not read warnings.
    warnings: (object, old) => (old === undefined ? podWarnings(objectOf(object['spec']), 'spec') : []),
    validateChange: validatePodChange,
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
