import type { CandidateProcess } from './candidate-process.js';
import { readLog } from './log-reader.js';
import type { LogEntry } from './protocol.js';
import type { Pauses } from './witness.js';

/** A process and what it wrote. */
export interface ProcessLog {
  readonly process: CandidateProcess;
  readonly entries: readonly LogEntry[];
}

/** What the machine added to the times that are judged. */
export interface MachineReport {
  /** From the start of each process to its first look at the Lease, in ms. */
  readonly startUpsMs: readonly number[];
  /** How late event loops were without a fault, in ms: only what is above 100 ms. */
  readonly lagsMs: readonly number[];
}

/** Shorter lags are the work of a candidate itself. */
const reportedMs = 100;

export function machineReport(logs: readonly ProcessLog[], pauses: Pauses): MachineReport {
  return {
    startUpsMs: logs.flatMap(({ process, entries }) => {
      const seen = entries.find(({ what }) => what === 'observed');
      return seen === undefined ? [] : [seen.at - process.startedAt];
    }),
    lagsMs: logs.flatMap(({ process, entries }) =>
      lagsWithoutFault(entries, pausesOf(process.identity, pauses)).flatMap(({ ms }) => (ms > reportedMs ? [ms] : [])),
    ),
  };
}

/** For how long a process got no turn between two moments, other than by a fault of ours, in ms. */
export function starvedMs(
  entries: readonly LogEntry[],
  pausedAt: readonly number[],
  span: { from: number; to: number },
): number {
  return lagsWithoutFault(entries, pausedAt).reduce((sum, { at, ms }) => {
    const overlap = Math.min(at, span.to) - Math.max(at - ms, span.from);
    return sum + Math.max(0, overlap);
  }, 0);
}

/** When a process was stopped from outside. */
export function pausesOf(identity: string, pauses: Pauses): number[] {
  return pauses.filter((pause) => pause.identity === identity).map(({ at }) => at);
}

type Lag = Extract<LogEntry, { what: 'lagged' }>;

function lagsWithoutFault(entries: readonly LogEntry[], pausedAt: readonly number[]): Lag[] {
  const harmedAt = [...pausedAt, ...entries.filter(({ what }) => what === 'stalled').map(({ at }) => at)];
  return entries.filter(
    (entry): entry is Lag =>
      entry.what === 'lagged' && !harmedAt.some((at) => at <= entry.at && at >= entry.at - entry.ms - 100),
  );
}

/** What each process knew and did from `from` on: the material for why nobody led in time. */
export function explainLate(processes: readonly CandidateProcess[], from: number): string[] {
  return processes.flatMap(({ identity, logFile, startedAt }) => {
    const entries = readLog(logFile);
    const told = entries.filter(({ at }) => at >= from - 1_000).filter(isTelling);
    if (told.length === 0) return [];
    const first = entries.find(({ what }) => what === 'observed');
    const born = `started at ${Math.round(startedAt - from)}, first saw the lease at ${first === undefined ? 'never' : Math.round(first.at - from)}`;
    return [
      `  ${identity} ${born}`,
      ...told.map(({ at, ...entry }) => `    ${identity} ${Math.round(at - from)} ms ${JSON.stringify(entry)}`),
    ];
  });
}

/** Leaves out writes that went well and looks that showed what the one before them had shown. */
function isTelling(entry: LogEntry, index: number, all: readonly LogEntry[]): boolean {
  if (entry.what === 'begin') return false;
  if (entry.what === 'end') return entry.outcome !== 'ok';
  if (entry.what !== 'observed') return true;
  const before = all.slice(0, index).findLast(({ what }) => what === 'observed');
  return before?.what !== 'observed' || before.holder !== entry.holder;
}
