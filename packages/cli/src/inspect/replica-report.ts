import type { KeyRow } from '@kctl/inspection';
import type { MetricSample } from './metric-samples.js';

/** Figures of one controller since its process started. */
export interface ControllerReport {
  readonly name: string;
  readonly runs: number;
  readonly errors: number;
  /** Mean, in ms; undefined before the first run. */
  readonly meanMs: number | undefined;
  /** Mean of a run; undefined if not counted. */
  readonly meanRequests: number | undefined;
  readonly waiting: number;
  readonly activeWorkers: number;
  readonly workers: number;
  /** The run that has gone on for longest, in seconds. */
  readonly longestRunSeconds: number;
}

/** State and size of one informer. */
export interface InformerReport {
  readonly name: string;
  readonly state: string;
  readonly objects: number;
  readonly bytes: number;
}

/** A key that does something, or has something to be done about. */
export interface KeyReport {
  readonly controller: string;
  readonly key: string;
  readonly state: KeyRow['state'];
  /** Failures and back-offs in a row. */
  readonly attempts: number;
  /** When it runs again unless an event comes first, in ms. */
  readonly nextInMs: number | undefined;
  readonly lastFailure: string | undefined;
  /** Remedy. */
  readonly advice: string | undefined;
}

/** State reported by a replica. */
export interface ReplicaReport {
  /** Problems, a sentence each; empty if there are no problems. */
  readonly problems: readonly string[];
  /** Undefined without leader election. */
  readonly isLeading: boolean | undefined;
  readonly isPaused: boolean;
  readonly controllers: readonly ControllerReport[];
  readonly informers: readonly InformerReport[];
  /** State of the controllers' keys; left out if the replica has no inspection. */
  readonly keys?: readonly KeyReport[];
}

/** How long a run may take before it is named, in seconds. */
const longRunSeconds = 60;

/** Counters of events that should not happen, with their messages. */
const alarms: readonly (readonly [metric: string, label: string, say: (of: string, count: number) => string])[] = [
  [
    'controller_runtime_terminal_reconcile_errors_total',
    'controller',
    (of, count) => `controller ${of}: ${count} failures are not tried again: see its log`,
  ],
  [
    'kctl_controller_hot_loops_total',
    'controller',
    (of, count) =>
      `controller ${of}: ${count} objects were reconciled in a loop: it writes something that its own watch reports`,
  ],
  [
    'kctl_finalizer_stuck_cleanups_total',
    'kind',
    (of, count) => `${of}: ${count} deletions do not end: see the log of its finalizer`,
  ],
  ['kctl_events_dropped_total', 'reason', (of, count) => `${count} Events were not delivered: ${of}`],
  [
    'informer_skipped_objects_total',
    'name',
    (of, count) => `informer ${of}: ${count} objects cannot be read and are left out`,
  ],
];

/** Evaluates the metrics of a replica, and the response of its `/readyz?verbose`. */
export function reportOf(samples: readonly MetricSample[], readyz: string | undefined): ReplicaReport {
  const find = (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined => {
    const found = samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  };
  const controllers = valuesOf(samples, 'controller_runtime_max_concurrent_reconciles', 'controller').map(
    (controller) => controllerOf(controller, find),
  );
  const informers = valuesOf(samples, 'informer_state', 'name').map((name): InformerReport => {
    const state = samples.find(
      (sample) => sample.name === 'informer_state' && sample.labels['name'] === name && sample.value === 1,
    );
    return {
      name,
      state: state?.labels['state'] ?? 'unknown',
      objects: find('informer_store_objects', { name }) ?? 0,
      bytes: find('informer_store_bytes', { name }) ?? 0,
    };
  });
  const leads = find('leader_election_master_status');
  return {
    problems: [
      ...failedChecks(readyz),
      ...informers
        .filter(({ state }) => state !== 'watching')
        .map(({ name, state }) => `informer ${name} is ${state}: see the log for why`),
      ...controllers.flatMap(controllerProblems),
      ...alarms.flatMap(([metric, label, say]) =>
        valuesOf(samples, metric, label).flatMap((of) => {
          const count = find(metric, { [label]: of }) ?? 0;
          return count === 0 ? [] : [say(of, count)];
        }),
      ),
    ],
    isLeading: leads === undefined ? undefined : leads > 0,
    isPaused: find('kctl_manager_paused') === 1,
    controllers,
    informers,
  };
}

type Find = (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;

function controllerOf(controller: string, find: Find): ControllerReport {
  const of = (name: string): number => find(name, { controller }) ?? 0;
  const seconds = of('controller_runtime_reconcile_time_seconds_sum');
  const runs = of('controller_runtime_reconcile_time_seconds_count');
  const requests = find('kctl_controller_reconcile_requests_sum', { controller });
  return {
    name: controller,
    runs,
    errors: of('controller_runtime_reconcile_errors_total'),
    meanMs: runs === 0 ? undefined : (1000 * seconds) / runs,
    meanRequests: runs === 0 || requests === undefined ? undefined : requests / runs,
    waiting: of('workqueue_depth'),
    activeWorkers: of('controller_runtime_active_workers'),
    workers: of('controller_runtime_max_concurrent_reconciles'),
    longestRunSeconds: of('workqueue_longest_running_processor_seconds'),
  };
}

function controllerProblems({
  name,
  runs,
  errors,
  waiting,
  activeWorkers,
  workers,
  longestRunSeconds,
}: ControllerReport): string[] {
  return [
    ...(runs > 0 && errors / runs > 0.5
      ? [`controller ${name}: ${errors} of ${runs} runs have failed: see its log`]
      : []),
    ...(longestRunSeconds > longRunSeconds
      ? [`controller ${name}: a run has gone on for ${Math.round(longestRunSeconds)} s: does it wait without a limit?`]
      : []),
    ...(waiting > 0 && activeWorkers >= workers && workers > 0 && waiting > 100 * workers
      ? [
          `controller ${name}: ${waiting} objects wait and all ${workers} workers are busy: raise maxConcurrentReconciles`,
        ]
      : []),
  ];
}

/** The checks that a verbose answer marks with `[-]`. */
function failedChecks(readyz: string | undefined): string[] {
  return [...(readyz ?? '').matchAll(/^\[-\](\S+)/gm)].map(([, name = '']) => `not ready: the check ${name} fails`);
}

/** The values of a label, in the order in which they appear. */
function valuesOf(samples: readonly MetricSample[], metric: string, label: string): readonly string[] {
  return [...new Set(samples.flatMap(({ name, labels }) => (name === metric ? (labels[label] ?? []) : [])))];
}
