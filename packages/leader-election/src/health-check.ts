import type { LeaderElector } from './leader-elector.js';

/** How late a leader may be before it counts as hung, in ms. controller-runtime and kube-controller-manager: 20 s. */
const defaultToleranceMs = 20_000;

/**
 * A check for a manager's or any other `/healthz`: throws while the elector believes that it leads (or still does the
 * work of a term that has ended) although its lease expired more than `toleranceMs` ago. A candidate is healthy.
 */
export function leaderElectionCheck(
  elector: Pick<LeaderElector, 'checkHealth'>,
  toleranceMs: number = defaultToleranceMs,
): () => void {
  return () => elector.checkHealth(toleranceMs);
}
