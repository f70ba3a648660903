import type { RuleFindings } from '@kctl/cel';
import type { RuleRun } from '@kctl/crd/internal/engine';

/** Evaluates the rules of one request, in this thread, or in another one if that would hold up other requests. */
export interface RuleEvaluation {
  /** @throws an error that {@link RuleEvaluation.settle} takes, if they are to be evaluated elsewhere */
  evaluate(run: RuleRun): RuleFindings;
  /**
   * Runs a check. If its rules have to be evaluated elsewhere, returns a promise that resolves when that is done, after
   * which the same check ends at once.
   */
  settle(check: () => void, signal?: AbortSignal): Promise<void> | undefined;
}
