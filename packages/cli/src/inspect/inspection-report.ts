import type { InspectionState } from './inspection-endpoint.js';
import type { KeyReport, ReplicaReport } from './replica-report.js';

/** Keys with activity; those that only wait for an event are left out. Problems come first. */
function activeKeys({ keys }: InspectionState): readonly KeyReport[] {
  return keys.rows.flatMap(({ controller, key, state, attempts, nextInMs, lastFailure, advice }) =>
    state === 'idle' ? [] : [{ controller, key, state, attempts, nextInMs, lastFailure, advice }],
  );
}

/** Problems reported by the inspection. */
function problemsOf({ overview }: InspectionState): readonly string[] {
  return overview.problems.map(({ text }) => text);
}

/** A report of the inspection alone, for an operator whose metrics are not at hand. */
export function inspectionReport(state: InspectionState): ReplicaReport {
  const { overview, informers } = state;
  return {
    problems: problemsOf(state),
    isLeading: overview.leaseAgeMs === undefined && overview.isLeader ? undefined : overview.isLeader,
    isPaused: overview.isPaused,
    controllers: overview.controllers.map((each) => ({
      name: each.name,
      runs: each.runs,
      errors: each.failures,
      meanMs: each.meanMs,
      meanRequests: each.meanRequests,
      waiting: each.queueLength,
      activeWorkers: each.running,
      workers: each.workers,
      longestRunSeconds: (each.longestRunMs ?? 0) / 1000,
    })),
    informers: informers.map(({ kind, phase, objects = 0, bytes = 0 }) => ({
      name: kind,
      state: phase,
      objects,
      bytes,
    })),
    keys: activeKeys(state),
  };
}

/** Combines metrics and checks with the additions of the inspection; without metrics, uses its figures. */
export function withInspection(report: ReplicaReport, state: InspectionState): ReplicaReport {
  const own = inspectionReport(state);
  const figures = report.controllers.length + report.informers.length === 0 ? own : report;
  return { ...figures, problems: [...new Set([...own.problems, ...report.problems])], keys: activeKeys(state) };
}
