import { isHealthy, type CandidateProcess, type Slot } from './candidate-process.js';
import { createLogReader, type LogReader } from './log-reader.js';
import { sharedNow, type Durations, type LogEntry } from './protocol.js';

/**
 * Tells whether a candidate can take over in time, by what it has seen: a candidate waits out a lease from when it
 * first saw it, so one that has not seen the leader's (it starts, or comes out of a fault, which may take seconds on a
 * busy machine) cannot be in time, and one whose last look is long ago is waiting for an answer.
 */
export function createReadiness(durations: Durations): (slot: Slot, leader: string) => boolean {
  const readers = new Map<CandidateProcess, LogReader>();
  return (slot, leader) => {
    if (!isHealthy(slot)) return false;
    const reader = readers.get(slot.process) ?? createLogReader(slot.process.logFile);
    readers.set(slot.process, reader);
    return hasSeen(reader.entries(), { leader, since: slot.busyUntil, now: sharedNow(), durations });
  };
}

/** What {@link hasSeen} asks for. */
export interface Sight {
  readonly leader: string;
  /** When the last fault of the candidate ended. */
  readonly since: number;
  readonly now: number;
  readonly durations: Durations;
}

/** Whether the last look at the Lease was after the last fault, within a retry period, and showed this leader. */
export function hasSeen(entries: readonly LogEntry[], { leader, since, now, durations }: Sight): boolean {
  const last = entries.findLast(({ what }) => what === 'observed' || what === 'unanswered');
  return (
    last?.what === 'observed' && last.holder === leader && last.at >= Math.max(since, now - durations.retryPeriodMs)
  );
}
