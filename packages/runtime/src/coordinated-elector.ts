import { runLeaseCandidate, type LeaderElector, type LeaseCandidateOptions } from '@kctl/leader-election';
import type { Elector } from '@kctl/manager';
import { anySignal } from '@kctl/wait';

/** An elector that announces its candidate to the server for as long as it runs. */
export function withCandidate(elector: LeaderElector, candidate: LeaseCandidateOptions): Elector {
  return {
    get isLeader() {
      return elector.isLeader;
    },
    get renewedMsAgo() {
      return elector.renewedMsAgo;
    },
    checkHealth: () => elector.checkHealth(),
    abandon: () => elector.abandon(),
    run: async (signal) => {
      using election = anySignal([signal]);
      const announced = runLeaseCandidate(candidate, election.signal);
      // It ends with the signal, or rejects at once, in which case the server would never choose this process, and
      // nothing would report it.
      const refused = announced.then(() => new Promise<never>(() => undefined));
      try {
        await Promise.race([elector.run(election.signal), refused]);
      } finally {
        election.abort();
        await announced;
      }
    },
  };
}
