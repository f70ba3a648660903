import type { InspectionState } from './inspection-endpoint.js';
import type { KeyReport, ReplicaReport } from './replica-report.js';

/** Keys that do something; those that wait for an event alone are left out. What is wrong comes first. */
function activeKeys({ keys }: InspectionState): readonly KeyReport[] {
  return keys.rows.flatMap(({ controller, key, state, attempts, nextInMs, lastFailure, advice }) =>
    state === 'idle' ? [] : [{ controller, key, state, attempts, nextInMs, lastFailure, advice }],
  );
}

/** What is wrong, as the inspection says it. */
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
      meanMs: undefined,
      meanRequests: undefined,
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

/** What metrics and checks say, with what the inspection adds; where there are no metrics, its own figures. */
export function withInspection(report: ReplicaReport, state: InspectionState): ReplicaReport {
  const own = inspectionReport(state);
  const figures = report.controllers.length + report.informers.length === 0 ? own : report;
  return { ...figures, problems: [...new Set([...own.problems, ...report.problems])], keys: activeKeys(state) };
}
