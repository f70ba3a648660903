import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  equalSemantic,
  forbidden,
  invalidValue,
  isObject,
  labelName,
  notSupported,
  numberOf,
  objectOf,
  objectsOf,
  required,
  stringOf,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';
import { isEmptySelector, selectorMatches, validateLabelSelector } from '../../resource/label-selector.js';
import { workloadScale } from '../scale.js';
import { nonNegative, podWarnings, validatePodTemplate } from './pod-spec.js';

const immutable = 'field is immutable';

function unchanged(object: UntypedObject, old: UntypedObject, ...path: readonly string[]): FieldError[] {
  const value = at(object, ...path);
  return equalSemantic(value, at(old, ...path)) ? [] : [invalidValue(path.join('.'), value ?? null, immutable)];
}

function nonNegatives(spec: JsonObject, names: readonly string[]): FieldError[] {
  return names.flatMap((name) => nonNegative(spec[name], `spec.${name}`));
}

function validateSelector(spec: JsonObject, kind: string): FieldError[] {
  const { selector } = spec;
  if (!isObject(selector)) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (isEmptySelector(selector)) {
    errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`));
  }
  return errors;
}

/** Pod template of a kind that keeps pods running. A missing selector counts as one that matches nothing, as in Go. */
function validateTemplate(spec: JsonObject, kind: string): FieldError[] {
  const template = objectOf(spec['template']);
  const labels = at(template, 'metadata', 'labels');
  const errors: FieldError[] = [];
  const { selector } = spec;
  const matches = isObject(selector) && (isEmptySelector(selector) || selectorMatches(selector, labels));
  if (!matches) {
    errors.push(
      invalidValue('spec.template.metadata.labels', labels ?? null, '`selector` does not match template `labels`'),
    );
  }
  errors.push(...validatePodTemplate(template, 'spec.template'));
  const policy = at(template, 'spec', 'restartPolicy');
  if (policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  if (at(template, 'spec', 'activeDeadlineSeconds') !== undefined) {
    errors.push(
      forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`),
    );
  }
  return errors;
}

function isPercentOrCount(value: unknown): boolean {
  return typeof value === 'number' ? value >= 0 : typeof value === 'string' && /^\d+%$/.test(value);
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '0%';
}

function validateRollingUpdate(rolling: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['maxUnavailable', 'maxSurge']) {
    if (rolling[name] === undefined || isPercentOrCount(rolling[name])) continue;
    const text =
      typeof rolling[name] === 'number'
        ? 'must be greater than or equal to 0'
        : "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    errors.push(invalidValue(`${field}.${name}`, rolling[name], text));
  }
  if (isZero(rolling['maxUnavailable']) && isZero(rolling['maxSurge'])) {
    errors.push(
      invalidValue(`${field}.maxUnavailable`, rolling['maxUnavailable'], 'may not be 0 when `maxSurge` is 0'),
    );
  }
  return errors;
}

function validateDeploymentStrategy(strategy: JsonObject): FieldError[] {
  const { type, rollingUpdate } = strategy;
  if (type === 'Recreate') {
    return rollingUpdate === undefined
      ? []
      : [forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type === 'RollingUpdate') return validateRollingUpdate(objectOf(rollingUpdate), 'spec.strategy.rollingUpdate');
  return [notSupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate'])];
}

/** A change without a new generation has been warned about before. */
function templateWarnings(object: UntypedObject, old: UntypedObject | undefined): string[] {
  if (old !== undefined && old.metadata.generation === object.metadata.generation) return [];
  return podWarnings(objectOf(at(object, 'spec', 'template', 'spec')), 'spec.template.spec');
}

function validateDeploymentStatus(status: JsonObject): FieldError[] {
  const counts = ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'];
  const [replicas = 0, , ready = 0, available = 0] = counts.map((name) => numberOf(status[name]) ?? 0);
  const errors = ['observedGeneration', ...counts, 'terminatingReplicas', 'collisionCount'].flatMap((name) =>
    nonNegative(status[name], `status.${name}`),
  );
  for (const name of counts.slice(1, 4)) {
    const count = numberOf(status[name]) ?? 0;
    if (count > replicas) errors.push(invalidValue(`status.${name}`, count, 'cannot be greater than status.replicas'));
  }
  if (available > ready) {
    errors.push(invalidValue('status.availableReplicas', available, 'cannot be greater than readyReplicas'));
  }
  return errors;
}

const deployment: KindStrategy = {
  revalidatesMetadata: true,
  generation: 'spec-or-annotations',
  scale: workloadScale(),
  statusKeepsLabels: true,
  status: { validateUpdate: (object) => validateDeploymentStatus(objectOf(object['status'])) },
  validate(object) {
    const spec = objectOf(object['spec']);
    const errors = [
      ...nonNegatives(spec, ['replicas']),
      ...validateSelector(spec, 'deployment'),
      ...validateTemplate(spec, 'ReplicaSet'),
      ...validateDeploymentStrategy(objectOf(spec['strategy'])),
      ...nonNegatives(spec, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']),
    ];
    const deadline = numberOf(spec['progressDeadlineSeconds']);
    if (deadline !== undefined && deadline <= (numberOf(spec['minReadySeconds']) ?? 0)) {
      errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
    }
    return errors;
  },
  warnings: templateWarnings,
  validateChange: (object, old) => unchanged(object, old, 'spec', 'selector'),
};

const replicaSet: KindStrategy = {
  generation: 'spec',
  scale: workloadScale(),
  validate(object) {
    const spec = objectOf(object['spec']);
    return [
      ...nonNegatives(spec, ['replicas', 'minReadySeconds']),
      ...validateSelector(spec, 'deployment'),
      ...validateTemplate(spec, 'ReplicaSet'),
    ];
  },
  validateChange: (object, old) => unchanged(object, old, 'spec', 'selector'),
};

const replicationController: KindStrategy = {
  generation: 'spec',
  scale: workloadScale(),
  validate(object) {
    const spec = objectOf(object['spec']);
    const errors = nonNegatives(spec, ['minReadySeconds']);
    const selector = isObject(spec['selector']) ? spec['selector'] : undefined;
    if (selector === undefined) errors.push(required('spec.selector'));
    errors.push(...nonNegatives(spec, ['replicas']));
    if (!isObject(spec['template'])) return [...errors, required('spec.template')];
    return [...errors, ...validateTemplate({ ...spec, selector: { matchLabels: selector } }, 'ReplicationController')];
  },
};

const mutableInStatefulSet = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

function validateStatefulSet(object: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  const management = stringOf(spec['podManagementPolicy']);
  if (management !== 'OrderedReady' && management !== 'Parallel') {
    errors.push(invalidValue('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'"));
  }
  const strategy = objectOf(spec['updateStrategy']);
  if (strategy['type'] !== 'RollingUpdate' && strategy['type'] !== 'OnDelete') {
    errors.push(invalidValue('spec.updateStrategy', strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  } else if (strategy['type'] === 'OnDelete' && strategy['rollingUpdate'] !== undefined) {
    errors.push(
      invalidValue(
        'spec.updateStrategy.rollingUpdate',
        strategy['rollingUpdate'],
        "only allowed for updateStrategy 'RollingUpdate'",
      ),
    );
  }
  const claims = Array.isArray(spec['volumeClaimTemplates']) ? spec['volumeClaimTemplates'] : [];
  const template = objectOf(spec['template']);
  const volumes = claims.map((claim) => ({ name: stringOf(at(claim, 'metadata', 'name')) }));
  const podSpec = objectOf(template['spec']);
  const own = objectsOf(podSpec['volumes']);
  const others = own.filter((volume) => !volumes.some(({ name }) => name === at(volume, 'name')));
  const whole = { ...template, spec: { ...podSpec, volumes: [...volumes, ...others] } };
  return [
    ...errors,
    ...nonNegatives(spec, ['replicas', 'minReadySeconds']),
    ...validateSelector(spec, 'statefulset'),
    ...validateTemplate({ ...spec, template: whole }, 'StatefulSet'),
  ];
}

/** `maxUnavailable` belongs to a feature that is off by default, so it is dropped. */
function dropMaxUnavailable(object: UntypedObject): void {
  const rolling = at(object, 'spec', 'updateStrategy', 'rollingUpdate');
  if (isObject(rolling)) delete rolling['maxUnavailable'];
}

const statefulSet: KindStrategy = {
  generation: 'spec',
  prepareForCreate: dropMaxUnavailable,
  prepareForUpdate: dropMaxUnavailable,
  nameRule: labelName,
  scale: workloadScale(),
  validate: validateStatefulSet,
  validateChange(object, old) {
    const spec = { ...objectOf(object['spec']) };
    const before = objectOf(old['spec']);
    for (const name of mutableInStatefulSet) spec[name] = before[name];
    if (equalSemantic(spec, before)) return [];
    return [
      forbidden(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    ];
  },
};

const templateGeneration = 'deprecated.daemonset.template.generation';

/** DaemonSets count changes of their template in an annotation, in which a field of an older version lives on. */
function setTemplateGeneration(object: UntypedObject, generation: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [templateGeneration]: `${generation}` };
}

const daemonSet: KindStrategy = {
  generation: 'spec',
  reportsChangeFirst: true,
  // As upstream, whose conversion shows the annotation always, so a writer of an object without it owns a zero.
  default(object) {
    object.metadata.annotations = { [templateGeneration]: '0', ...object.metadata.annotations };
  },
  prepareForCreate: (object) => setTemplateGeneration(object, 1),
  prepareForUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[templateGeneration] ?? 1);
    const isChanged = !equalSemantic(at(object, 'spec', 'template'), at(old, 'spec', 'template'));
    setTemplateGeneration(object, isChanged ? before + 1 : before);
  },
  validate(object) {
    const spec = objectOf(object['spec']);
    const selector = spec['selector'];
    const errors = validateLabelSelector(selector, 'spec.selector');
    if (isObject(selector) && isEmptySelector(selector)) {
      errors.push(invalidValue('spec.selector', selector, 'empty selector is invalid for daemonset'));
    }
    errors.push(...validateTemplate(spec, 'DaemonSet'));
    const strategy = objectOf(spec['updateStrategy']);
    if (strategy['type'] === 'RollingUpdate') {
      errors.push(...validateRollingUpdate(objectOf(strategy['rollingUpdate']), 'spec.updateStrategy.rollingUpdate'));
    } else if (strategy['type'] !== 'OnDelete') {
      errors.push(notSupported('spec.updateStrategy', strategy, ['RollingUpdate', 'OnDelete']));
    }
    return [...errors, ...nonNegatives(spec, ['minReadySeconds', 'revisionHistoryLimit'])];
  },
  validateChange: (object, old) => unchanged(object, old, 'spec', 'selector'),
};

const controllerRevision: KindStrategy = {
  validate: (object) => [
    ...nonNegative(object['revision'], 'revision'),
    ...(object['data'] === undefined || object['data'] === null ? [required('data', 'data is mandatory')] : []),
  ],
  validateChange: (object, old) => unchanged(object, old, 'data'),
};

/** Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, ControllerRevision; batch is in its own file. */
export const appStrategies: Readonly<Record<string, KindStrategy>> = {
  'apps/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'apps/StatefulSet': statefulSet,
  'apps/DaemonSet': daemonSet,
  'apps/ControllerRevision': controllerRevision,
  '/ReplicationController': replicationController,
};
