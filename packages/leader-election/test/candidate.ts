import type { FakeClock } from '@kctl/wait/testing';
import { createLeaderElector, type LeaderElector, type LeaderElectorOptions } from '../src/index.js';
import type { LockFaults, MemoryLockServer } from './memory-lock.js';

export interface Candidate {
  readonly elector: LeaderElector;
  readonly log: string[];
  readonly stop: AbortController;
  /** 'resolved', or what `run` rejected with. */
  readonly ended: Promise<unknown>;
}

export type CandidateOptions = Partial<LeaderElectorOptions> & {
  readonly faults?: LockFaults;
  readonly work?: (signal: AbortSignal) => Promise<void>;
};

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Starts a candidate that logs what it is told. */
export function startCandidate(
  server: MemoryLockServer,
  clock: FakeClock,
  identity: string,
  { faults, work = untilAborted, ...options }: CandidateOptions = {},
): Candidate {
  const log: string[] = [];
  const stop = new AbortController();
  const elector = createLeaderElector({
    lock: server.lock(identity, faults),
    clock,
    random: () => 0,
    callbacks: {
      onStartedLeading: async (signal) => {
        log.push('started');
        await work(signal);
        log.push('work ended');
      },
      onStoppedLeading: ({ led }) => log.push(led ? 'stopped' : 'never led'),
      onNewLeader: (leader) => log.push(`leader ${leader}`),
    },
    ...options,
  });
  const ended = elector.run(stop.signal).then(
    () => 'resolved',
    (error: unknown) => error,
  );
  return { elector, log, stop, ended };
}
