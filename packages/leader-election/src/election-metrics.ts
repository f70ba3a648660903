import type { Counter, Gauge, Metrics } from '@kctl/telemetry';

/** Metrics of an elector, in any thread that renews. */
export interface ElectionMetrics {
  /** 1 while it leads. */
  readonly status: Gauge;
  /** Renewals that had to read the lock first. */
  readonly slowPath: Counter;
  /** Requests for the lock that failed. */
  readonly failures: Counter;
}

/** The series of one election, the status at 0. */
export function createElectionMetrics(metrics: Metrics, name: string): ElectionMetrics {
  const labelNames = ['name'];
  const counter = (metric: string, help: string): Counter =>
    metrics.counter({ name: metric, help, labelNames }).with({ name });
  const status = metrics
    .gauge({ name: 'leader_election_master_status', help: 'Whether this process leads (1) or not (0).', labelNames })
    .with({ name });
  status.set(0);
  return {
    status,
    slowPath: counter('leader_election_slowpath_total', 'Renewals that had to read the lock first.'),
    failures: counter('leader_election_request_failures_total', 'Failed requests to acquire or renew the lock.'),
  };
}
