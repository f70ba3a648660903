import {
  cloneJson,
  ensureObject,
  isObject,
  objectsOf,
  setDefault,
  stringOf,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { templateLabels } from './pods.js';

function setText(target: JsonObject, name: string, value: string): void {
  if (stringOf(target[name]) === '') target[name] = value;
}

/** Upstream's internal types have 0 if bounds are missing under another strategy, and admission sees it. */
function zeroBounds({ rollingUpdate }: JsonObject): void {
  if (!isObject(rollingUpdate)) return;
  setDefault(rollingUpdate, 'maxUnavailable', 0);
  setDefault(rollingUpdate, 'maxSurge', 0);
}

function deployment(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setDefault(spec, 'replicas', 1);
  const strategy = ensureObject(spec, 'strategy');
  setText(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = ensureObject(strategy, 'rollingUpdate');
    setDefault(rolling, 'maxUnavailable', '25%');
    setDefault(rolling, 'maxSurge', '25%');
  } else zeroBounds(strategy);
  setDefault(spec, 'revisionHistoryLimit', 10);
  setDefault(spec, 'progressDeadlineSeconds', 600);
}

function daemonSet(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  const strategy = ensureObject(spec, 'updateStrategy');
  setText(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rolling = ensureObject(strategy, 'rollingUpdate');
    setDefault(rolling, 'maxUnavailable', 1);
    setDefault(rolling, 'maxSurge', 0);
  } else zeroBounds(strategy);
  setDefault(spec, 'revisionHistoryLimit', 10);
}

function statefulSet(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setText(spec, 'podManagementPolicy', 'OrderedReady');
  const strategy = ensureObject(spec, 'updateStrategy');
  if (stringOf(strategy['type']) === '') {
    strategy['type'] = 'RollingUpdate';
    ensureObject(strategy, 'rollingUpdate');
  }
  if (isObject(strategy['rollingUpdate'])) setDefault(strategy['rollingUpdate'], 'partition', 0);
  for (const claim of objectsOf(spec['volumeClaimTemplates'])) {
    claim['kind'] = 'PersistentVolumeClaim';
    claim['apiVersion'] = 'v1';
  }
  const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy');
  setText(retention, 'whenDeleted', 'Retain');
  setText(retention, 'whenScaled', 'Retain');
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
}

function copyTemplateLabels(object: JsonObject, spec: JsonObject): void {
  const labels = templateLabels(spec);
  const metadata = ensureObject(object, 'metadata');
  if (labels !== undefined && !isObject(metadata['labels'])) metadata['labels'] = labels;
}

function replicationController(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  const labels = templateLabels(spec);
  if (labels !== undefined && !isObject(spec['selector'])) spec['selector'] = cloneJson(labels);
  copyTemplateLabels(object, spec);
}

function job(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', spec['backoffLimitPerIndex'] === undefined ? 6 : 2 ** 31 - 1);
  copyTemplateLabels(object, spec);
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'podReplacementPolicy', spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed');
  setDefault(spec, 'manualSelector', false);
}

function cronJob(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setText(spec, 'concurrencyPolicy', 'Allow');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'successfulJobsHistoryLimit', 3);
  setDefault(spec, 'failedJobsHistoryLimit', 1);
}

function scalingRules(given: unknown, defaults: JsonObject): JsonObject {
  return isObject(given) ? { ...defaults, ...given } : defaults;
}

function autoscalerV2(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setDefault(spec, 'minReplicas', 1);
  if (!Array.isArray(spec['metrics']) || spec['metrics'].length === 0) {
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec['metrics'] = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  const { behavior } = spec;
  if (!isObject(behavior)) return;
  behavior['scaleUp'] = scalingRules(behavior['scaleUp'], {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  });
  behavior['scaleDown'] = scalingRules(behavior['scaleDown'], {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  });
}

/** Defaults of the workload kinds. */
export const workloadDefaults: readonly [string, (value: JsonObject) => void][] = [
  ['v1.Deployment', deployment],
  ['v1.DaemonSet', daemonSet],
  ['v1.StatefulSet', statefulSet],
  ['v1.ReplicaSet', (object) => setDefault(ensureObject(object, 'spec'), 'replicas', 1)],
  ['v1.ReplicationController', replicationController],
  ['v1.Job', job],
  ['v1.CronJob', cronJob],
  ['v1.PodFailurePolicyOnPodConditionsPattern', (value) => setText(value, 'status', 'True')],
  ['v1.HorizontalPodAutoscaler', (object) => setDefault(ensureObject(object, 'spec'), 'minReplicas', 1)],
  ['v2.HorizontalPodAutoscaler', autoscalerV2],
];
