import { type RuleFindings } from '@kctl/cel';
import { CelInlineCostError } from '@kctl/cel/internal';
import type { RuleRun } from '@kctl/crd/internal/engine';
import type { RuleEvaluation } from '../resource/rule-evaluation.js';
import type { Offload } from './offload.js';

/**
 * Cost limit for the rules of an object in this thread, about 5 ms, and 20 for the first that a process evaluates.
 * Objects in practice cost a thirtieth of it.
 */
export const inlineCost = 30_000;

/** Ends a validation whose rules cost too much for this thread. */
class RulesPending extends Error {
  readonly run: RuleRun;

  constructor(run: RuleRun) {
    super('the rules are evaluated in another thread');
    this.run = run;
  }
}

/** The rule evaluation of one request. */
export function createRuleEvaluation(offload: Offload): RuleEvaluation {
  const known: { readonly run: RuleRun; readonly findings: RuleFindings }[] = [];
  return {
    evaluate(run) {
      const found = known.find(({ run: other }) => other.object === run.object && other.old === run.old);
      if (found !== undefined) return found.findings;
      try {
        return run.validate({ inlineCost });
      } catch (error) {
        throw error instanceof CelInlineCostError ? new RulesPending(run) : error;
      }
    },
    settle(check, signal) {
      try {
        check();
        return undefined;
      } catch (error) {
        if (!(error instanceof RulesPending)) throw error;
        const { run } = error;
        const { schema, object, old } = run;
        return offload.run({ type: 'rules', schema, object, old }, signal).then((findings) => {
          known.push({ run, findings });
        });
      }
    },
  };
}
