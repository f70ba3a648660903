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
      using announcing = anySignal([signal]);
      const announced = runLeaseCandidate(candidate, announcing.signal);
      try {
        await elector.run(signal);
      } finally {
        announcing.abort();
        await announced;
      }
    },
  };
}
