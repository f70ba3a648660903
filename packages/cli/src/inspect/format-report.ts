import type { ReplicaReport } from './replica-report.js';

/** A report of one replica for a person: what is wrong first. */
export function formatReport(name: string, report: ReplicaReport): string {
  const { problems, isLeading, isPaused, controllers, informers } = report;
  const role = isLeading === undefined ? '' : isLeading ? ', leads' : ', waits for the lease';
  return [
    `${name}${role}${isPaused ? ', paused' : ''}`,
    ...problems.map((problem) => `  problem  ${problem}`),
    ...table(
      ['controller', 'runs', 'errors', 'mean', 'requests/run', 'waiting', 'workers'],
      controllers.map((each) => [
        each.name,
        String(each.runs),
        String(each.errors),
        each.meanMs === undefined ? '' : `${each.meanMs.toFixed(each.meanMs < 10 ? 1 : 0)} ms`,
        each.meanRequests === undefined ? '' : each.meanRequests.toFixed(1),
        String(each.waiting),
        `${each.activeWorkers}/${each.workers}`,
      ]),
    ),
    ...table(
      ['informer', 'state', 'objects', 'size'],
      informers.map((each) => [
        each.name,
        each.state,
        String(each.objects),
        `${(each.bytes / (1024 * 1024)).toFixed(1)} MiB`,
      ]),
    ),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Columns of equal width; nothing where there are no rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}
