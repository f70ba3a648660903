import type { UntypedObject } from '@kctl/apimachinery';
import { at, isObject, numberOf, objectsOf, stringOf } from '@kctl/crd/internal/engine';
import { formatLabelSelector } from '../resource/label-selector.js';
import { ageColumn, flag, integer, nameColumn, orElse, text, wide, type PrintedColumn } from './column.js';
import { ageOf, humanDuration } from './duration.js';

function count(...path: readonly string[]): PrintedColumn['cell'] {
  return (object) => numberOf(at(object, ...path)) ?? 0;
}

function number(object: UntypedObject, ...path: readonly string[]): number {
  return numberOf(at(object, ...path)) ?? 0;
}

/** Labels as `a=b,c=d`, or `<none>`. */
export function formatLabels(labels: unknown): string {
  return orElse(formatLabelSelector(labels));
}

function containers(template: readonly string[]): PrintedColumn[] {
  const list = (object: UntypedObject, name: string): string =>
    objectsOf(at(object, ...template, 'spec', 'containers'))
      .map((each) => stringOf(each[name]))
      .join(',');
  return [
    wide(text('Containers', (object) => list(object, 'name'), 'Names of each container in the template.')),
    wide(text('Images', (object) => list(object, 'image'), 'Images referenced by each container in the template.')),
  ];
}

function selector(...path: readonly string[]): PrintedColumn {
  return wide(text('Selector', (object) => formatLabels(at(object, ...path))));
}

const template = ['spec', 'template'];

const replicas: readonly PrintedColumn[] = [
  nameColumn,
  integer('Desired', count('spec', 'replicas')),
  integer('Current', count('status', 'replicas')),
  integer('Ready', count('status', 'readyReplicas')),
  ageColumn,
  ...containers(template),
  selector('spec', 'selector'),
];

const jobStates: readonly [condition: string, status: string][] = [
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
];

function jobStatus(object: UntypedObject): string {
  const conditions = objectsOf(at(object, 'status', 'conditions'));
  const has = (type: string): boolean => conditions.some((each) => each['type'] === type && each['status'] === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return jobStates.find(([condition]) => has(condition))?.[1] ?? 'Running';
}

function completions(object: UntypedObject): string {
  const succeeded = number(object, 'status', 'succeeded');
  const wanted = numberOf(at(object, 'spec', 'completions'));
  if (wanted !== undefined) return `${succeeded}/${wanted}`;
  const parallelism = number(object, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(object: UntypedObject, now: number): string {
  const start = Date.parse(stringOf(at(object, 'status', 'startTime')));
  if (Number.isNaN(start)) return '';
  const end = Date.parse(stringOf(at(object, 'status', 'completionTime')));
  return humanDuration((Number.isNaN(end) ? now : end) - start);
}

function metric(spec: Record<string, unknown>, status: Record<string, unknown> | undefined): string {
  const name = {
    Resource: 'resource',
    ContainerResource: 'containerResource',
    Pods: 'pods',
    Object: 'object',
    External: 'external',
  }[stringOf(spec['type'])];
  if (name === undefined) return '<unknown type>';
  const target = at(spec, name, 'target');
  const current = at(status, name, 'current');
  const average = at(target, 'averageValue');
  const isResource = name === 'resource' || name === 'containerResource';
  const head = isResource ? `${stringOf(at(spec, name, 'name'))}: ` : '';
  if (average !== undefined) {
    const tail = name === 'object' || name === 'external' ? ' (avg)' : '';
    return `${head}${orElse(at(current, 'averageValue'), '<unknown>')}/${stringOf(average)}${tail}`;
  }
  if (!isResource) return `${orElse(at(current, 'value'), '<unknown>')}/${stringOf(at(target, 'value'))}`;
  const percent = (value: unknown, none: string): string =>
    numberOf(value) === undefined ? none : `${numberOf(value)}%`;
  return `${head}${percent(at(current, 'averageUtilization'), '<unknown>')}/${percent(at(target, 'averageUtilization'), '<auto>')}`;
}

/** Metrics of an autoscaler of either version. */
function metrics(object: UntypedObject): string {
  const cpu = numberOf(at(object, 'spec', 'targetCPUUtilizationPercentage'));
  if (cpu !== undefined) {
    const current = numberOf(at(object, 'status', 'currentCPUUtilizationPercentage'));
    return `cpu: ${current === undefined ? '<unknown>' : `${current}%`}/${cpu}%`;
  }
  const specs = objectsOf(at(object, 'spec', 'metrics'));
  if (specs.length === 0) return '<none>';
  const statuses = objectsOf(at(object, 'status', 'currentMetrics'));
  const shown = specs.slice(0, 2).map((spec, index) => metric(spec, statuses[index]));
  return specs.length > 2 ? `${shown.join(', ')} + ${specs.length - 2} more...` : shown.join(', ');
}

function controllerName(object: UntypedObject): string {
  const owner = object.metadata.ownerReferences?.find((each) => each.controller === true);
  if (owner === undefined) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

/** String form of an int-or-string. */
function countOrPercent(value: unknown): string {
  return typeof value === 'number' ? `${value}` : orElse(value, 'N/A');
}

/** Columns of the workload kinds. */
export const workloadColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  'apps/Deployment': [
    nameColumn,
    text(
      'Ready',
      (object) => `${number(object, 'status', 'readyReplicas')}/${number(object, 'spec', 'replicas')}`,
      'Number of the pod with ready state',
    ),
    text('Up-to-date', count('status', 'updatedReplicas')),
    text('Available', count('status', 'availableReplicas')),
    ageColumn,
    ...containers(template),
    wide(text('Selector', (object) => formatLabelSelector(at(object, 'spec', 'selector')))),
  ],
  'apps/ReplicaSet': replicas,
  '/ReplicationController': replicas,
  'apps/StatefulSet': [
    nameColumn,
    text(
      'Ready',
      (object) => `${number(object, 'status', 'readyReplicas')}/${number(object, 'spec', 'replicas')}`,
      'Number of the pod with ready state',
    ),
    ageColumn,
    ...containers(template),
  ],
  'apps/DaemonSet': [
    nameColumn,
    integer('Desired', count('status', 'desiredNumberScheduled')),
    integer('Current', count('status', 'currentNumberScheduled')),
    integer('Ready', count('status', 'numberReady')),
    integer('Up-to-date', count('status', 'updatedNumberScheduled')),
    integer('Available', count('status', 'numberAvailable')),
    text('Node Selector', (object) => formatLabels(at(object, ...template, 'spec', 'nodeSelector'))),
    ageColumn,
    ...containers(template),
    selector('spec', 'selector'),
  ],
  'apps/ControllerRevision': [
    nameColumn,
    text('Controller', controllerName, 'Controller of the object'),
    text('Revision', count('revision')),
    ageColumn,
  ],
  'batch/Job': [
    nameColumn,
    text('Status', jobStatus, 'Status of the job.'),
    text('Completions', completions),
    text('Duration', jobDuration, 'Time required to complete the job.'),
    ageColumn,
    ...containers(template),
    selector('spec', 'selector'),
  ],
  'batch/CronJob': [
    nameColumn,
    text('Schedule', (object) => stringOf(at(object, 'spec', 'schedule'))),
    text('Timezone', (object) => orElse(at(object, 'spec', 'timeZone'))),
    flag('Suspend', (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False')),
    integer('Active', (object) => objectsOf(at(object, 'status', 'active')).length),
    text('Last Schedule', (object, now) => {
      const last = at(object, 'status', 'lastScheduleTime');
      return typeof last === 'string' ? ageOf(last, now) : '<none>';
    }),
    ageColumn,
    ...containers(['spec', 'jobTemplate', 'spec', 'template']),
    selector('spec', 'jobTemplate', 'spec', 'selector'),
  ],
  'autoscaling/HorizontalPodAutoscaler': [
    nameColumn,
    text('Reference', (object) => {
      const target = at(object, 'spec', 'scaleTargetRef');
      return isObject(target) ? `${stringOf(target['kind'])}/${stringOf(target['name'])}` : '/';
    }),
    text('Targets', metrics),
    text('MinPods', (object) => {
      const min = numberOf(at(object, 'spec', 'minReplicas'));
      return min === undefined ? '<unset>' : `${min}`;
    }),
    text('MaxPods', count('spec', 'maxReplicas')),
    text('Replicas', count('status', 'currentReplicas')),
    ageColumn,
  ],
  'policy/PodDisruptionBudget': [
    nameColumn,
    text(
      'Min Available',
      (object) => countOrPercent(at(object, 'spec', 'minAvailable')),
      'The minimum number of pods that must be available.',
    ),
    text(
      'Max Unavailable',
      (object) => countOrPercent(at(object, 'spec', 'maxUnavailable')),
      'The maximum number of pods that may be unavailable.',
    ),
    integer(
      'Allowed Disruptions',
      count('status', 'disruptionsAllowed'),
      'Calculated number of pods that may be disrupted at this time.',
    ),
    ageColumn,
  ],
};
