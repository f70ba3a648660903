import type { UntypedObject } from '@kctl/apimachinery';
import { at, isObject, numberOf, objectsOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import type { RowCondition } from '../resource/resource.js';
import { ageColumn, nameColumn, orElse, text, wide, type PrintedColumn } from './column.js';
import { ageOf } from './duration.js';

interface PodSummary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: number;
  /** Time when a container last ended; '' if no container did. */
  readonly lastRestart: string;
}

function hasCondition(object: UntypedObject, type: string): boolean {
  return objectsOf(at(object, 'status', 'conditions')).some(
    (each) => each['type'] === type && each['status'] === 'True',
  );
}

/** Counts restarts and remembers the last end of a container. */
class Restarts {
  count = 0;
  last = '';

  add(status: JsonObject): void {
    this.count += numberOf(status['restartCount']) ?? 0;
    const ended = stringOf(at(status, 'lastState', 'terminated', 'finishedAt'));
    if (ended > this.last) this.last = ended;
  }
}

function endReason(terminated: JsonObject): string {
  const reason = stringOf(terminated['reason']);
  if (reason !== '') return reason;
  const signal = numberOf(terminated['signal']) ?? 0;
  return signal === 0 ? `ExitCode:${numberOf(terminated['exitCode']) ?? 0}` : `Signal:${signal}`;
}

function baseReason(object: UntypedObject): string {
  const gated = objectsOf(at(object, 'status', 'conditions')).some(
    (each) => each['type'] === 'PodScheduled' && each['reason'] === 'SchedulingGated',
  );
  if (gated) return 'SchedulingGated';
  const reason = stringOf(at(object, 'status', 'reason'));
  return reason === '' ? stringOf(at(object, 'status', 'phase')) : reason;
}

interface InitProgress {
  /** Why the pod still initialises; undefined when it does not. */
  readonly reason: string | undefined;
  readonly ready: number;
  readonly all: Restarts;
  readonly sidecars: Restarts;
}

function initProgress(object: UntypedObject): InitProgress {
  const containers = objectsOf(at(object, 'spec', 'initContainers'));
  const sidecarNames = new Set(containers.filter((each) => each['restartPolicy'] === 'Always').map(({ name }) => name));
  const all = new Restarts();
  const sidecars = new Restarts();
  let ready = 0;
  for (const [index, status] of objectsOf(at(object, 'status', 'initContainerStatuses')).entries()) {
    const isSidecar = sidecarNames.has(status['name']);
    all.add(status);
    if (isSidecar) sidecars.add(status);
    const terminated = at(status, 'state', 'terminated');
    const waiting = stringOf(at(status, 'state', 'waiting', 'reason'));
    if (isObject(terminated) && (numberOf(terminated['exitCode']) ?? 0) === 0) continue;
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) ready += 1;
      continue;
    }
    const reason = isObject(terminated)
      ? endReason(terminated)
      : waiting !== '' && waiting !== 'PodInitializing'
        ? waiting
        : `${index}/${containers.length}`;
    return { reason: `Init:${reason}`, ready, all, sidecars };
  }
  return { reason: undefined, ready, all, sidecars };
}

function containerReason(object: UntypedObject, base: string, restarts: Restarts): { reason: string; ready: number } {
  let reason = base;
  let failure = '';
  let isRunning = false;
  let ready = 0;
  for (const status of objectsOf(at(object, 'status', 'containerStatuses')).reverse()) {
    restarts.add(status);
    const waiting = stringOf(at(status, 'state', 'waiting', 'reason'));
    const terminated = at(status, 'state', 'terminated');
    if (waiting !== '') reason = waiting;
    else if (isObject(terminated)) {
      reason = endReason(terminated);
      if ((numberOf(terminated['exitCode']) ?? 0) !== 0) failure = reason;
    } else if (status['ready'] === true && isObject(at(status, 'state', 'running'))) {
      isRunning = true;
      ready += 1;
    }
  }
  if (reason !== 'Completed') return { reason, ready };
  if (isRunning && hasCondition(object, 'Ready')) return { reason: 'Running', ready };
  if (failure !== '') return { reason: failure, ready };
  return { reason: isRunning ? 'NotReady' : reason, ready };
}

function summarize(object: UntypedObject): PodSummary {
  const sidecars = objectsOf(at(object, 'spec', 'initContainers')).filter((each) => each['restartPolicy'] === 'Always');
  const total = objectsOf(at(object, 'spec', 'containers')).length + sidecars.length;
  const init = initProgress(object);
  let restarts = init.all;
  let status = init.reason ?? baseReason(object);
  let { ready } = init;
  if (init.reason === undefined || hasCondition(object, 'Initialized')) {
    restarts = init.sidecars;
    const containers = containerReason(object, status, restarts);
    status = containers.reason;
    ready += containers.ready;
  }
  if (object.metadata.deletionTimestamp !== undefined) {
    const phase = at(object, 'status', 'phase');
    if (at(object, 'status', 'reason') === 'NodeLost') status = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') status = 'Terminating';
  }
  return { ready: `${ready}/${total}`, status, restarts: restarts.count, lastRestart: restarts.last };
}

function readinessGates(object: UntypedObject): string {
  const gates = objectsOf(at(object, 'spec', 'readinessGates'));
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => hasCondition(object, stringOf(gate['conditionType']))).length;
  return `${open}/${gates.length}`;
}

function containerList(name: 'name' | 'image'): PrintedColumn['cell'] {
  return (object) =>
    objectsOf(at(object, 'template', 'spec', 'containers'))
      .map((each) => stringOf(each[name]))
      .join(',');
}

/** Columns of pods. */
export const podColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/Pod': [
    nameColumn,
    text(
      'Ready',
      (object) => summarize(object).ready,
      'The aggregate readiness state of this pod for accepting traffic.',
    ),
    text('Status', (object) => summarize(object).status, 'The aggregate status of the containers in this pod.'),
    text(
      'Restarts',
      (object, now) => {
        const { restarts, lastRestart } = summarize(object);
        return restarts === 0 || lastRestart === '' ? `${restarts}` : `${restarts} (${ageOf(lastRestart, now)} ago)`;
      },
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
    ),
    ageColumn,
    wide(text('IP', (object) => orElse(objectsOf(at(object, 'status', 'podIPs'))[0]?.['ip']))),
    wide(text('Node', (object) => orElse(at(object, 'spec', 'nodeName')))),
    wide(text('Nominated Node', (object) => orElse(at(object, 'status', 'nominatedNodeName')))),
    wide(text('Readiness Gates', readinessGates)),
  ],
  '/PodTemplate': [
    nameColumn,
    text('Containers', containerList('name'), 'Names of each container in the template.'),
    text('Images', containerList('image'), 'Images referenced by each container in the template.'),
    text(
      'Pod Labels',
      (object) => {
        const labels = at(object, 'template', 'metadata', 'labels');
        const pairs = isObject(labels) ? Object.entries(labels).map(([key, value]) => `${key}=${stringOf(value)}`) : [];
        return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
      },
      'The labels for the pod template.',
    ),
  ],
};

/** That a pod has run to its end. */
export function podConditions(object: UntypedObject): readonly RowCondition[] {
  const phase = at(object, 'status', 'phase');
  if (phase !== 'Succeeded' && phase !== 'Failed') return [];
  const message = phase === 'Failed' ? 'The pod failed.' : 'The pod has completed successfully.';
  return [{ type: 'Completed', status: 'True', reason: phase, message }];
}
