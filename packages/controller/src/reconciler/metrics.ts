import type { Counter, Gauge, Histogram, Metrics } from '@kctl/telemetry';

/** Result of a reconcile, as in the label `result`. */
export type ReconcileOutcome = 'success' | 'error' | 'requeue' | 'requeue_after';

const reconcileTimeBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Budgets are small numbers. The relevant values are 0, 1, 2, and the run that lists a whole cluster. */
const requestBuckets: readonly number[] = [0, 1, 2, 3, 5, 8, 13, 21, 50, 100, 200, 500, 1000];

/** The metrics of one controller, under controller-runtime's names. */
export interface ControllerMetrics {
  readonly total: Readonly<Record<ReconcileOutcome, Counter>>;
  readonly errors: Counter;
  readonly terminalErrors: Counter;
  readonly panics: Counter;
  readonly timeouts: Counter;
  readonly seconds: Histogram;
  readonly maxConcurrent: Gauge;
  readonly activeWorkers: Gauge;
  /** Not upstream. Keys found to be reconciled in a loop. */
  readonly hotLoops: Counter;
  /** Not upstream. Requests of a run; undefined if they are not counted. */
  readonly requests: Histogram | undefined;
  /** Exports every series as 0, so that a rate can be computed from the first event on. */
  preset(): void;
}

/** Declares the metrics and picks the children of this controller. */
export function createControllerMetrics(metrics: Metrics, controller: string, hasRequests = false): ControllerMetrics {
  const labelNames = ['controller'];
  const counter = (name: string, help: string): Counter =>
    metrics.counter({ name, help, labelNames }).with({ controller });
  const gauge = (name: string, help: string): Gauge => metrics.gauge({ name, help, labelNames }).with({ controller });
  const totals = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Total number of reconciliations per controller',
    labelNames: ['controller', 'result'],
  });
  const total = {
    success: totals.with({ controller, result: 'success' }),
    error: totals.with({ controller, result: 'error' }),
    requeue: totals.with({ controller, result: 'requeue' }),
    requeue_after: totals.with({ controller, result: 'requeue_after' }),
  };
  const errors = counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of reconciliation errors per controller',
  );
  const terminalErrors = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Total number of terminal reconciliation errors per controller',
  );
  const panics = counter(
    'controller_runtime_reconcile_panics_total',
    'Total number of reconciliation panics per controller',
  );
  const timeouts = counter(
    'controller_runtime_reconcile_timeouts_total',
    'Total number of reconciliation timeouts per controller',
  );
  const seconds = metrics
    .histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Length of time per reconciliation per controller',
      labelNames,
      buckets: reconcileTimeBuckets,
    })
    .with({ controller });
  const maxConcurrent = gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum number of concurrent reconciles per controller',
  );
  const activeWorkers = gauge('controller_runtime_active_workers', 'Number of currently used workers per controller');
  const hotLoops = counter(
    'kctl_controller_hot_loops_total',
    'Total number of keys that were found to be reconciled in a loop per controller',
  );
  const requests = hasRequests
    ? metrics
        .histogram({
          name: 'kctl_controller_reconcile_requests',
          help: 'Number of requests to the API server per reconciliation per controller',
          labelNames,
          buckets: requestBuckets,
        })
        .with({ controller })
    : undefined;
  return {
    total,
    errors,
    terminalErrors,
    panics,
    timeouts,
    seconds,
    maxConcurrent,
    activeWorkers,
    hotLoops,
    requests,
    preset: () => {
      for (const each of [...Object.values(total), errors, terminalErrors, panics, timeouts, hotLoops]) each.inc(0);
      activeWorkers.set(0);
    },
  };
}
