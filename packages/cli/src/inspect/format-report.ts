import { duration } from './duration.js';
import type { KeyReport, ReplicaReport } from './replica-report.js';

/** Formats a report of one replica, problems first. */
export function formatReport(name: string, report: ReplicaReport): string {
  const { problems, isLeading, isPaused, controllers, informers, keys = [] } = report;
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
    ...keyLines(keys),
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

/** Formats the state of keys, and below the table the remedies, once for all keys concerned. */
function keyLines(keys: readonly KeyReport[]): string[] {
  const advice = [...new Set(keys.flatMap((key) => key.advice ?? []))];
  return [
    ...table(
      ['key', 'controller', 'state', 'attempts', 'next', 'failure'],
      keys.map((each) => [
        each.key,
        each.controller,
        each.state,
        each.attempts === 0 ? '' : String(each.attempts),
        each.nextInMs === undefined ? '' : `in ${duration(each.nextInMs)}`,
        each.lastFailure ?? '',
      ]),
    ),
    ...advice.map((text) => `  advice  ${text}`),
  ];
}

/** Formats columns of equal width; empty if there are no rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}
