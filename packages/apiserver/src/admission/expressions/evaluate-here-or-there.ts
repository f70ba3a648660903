import { CelInlineCostError } from '@kctl/cel/internal';
import { nextTurn } from '@kctl/wait/internal';
import { askOf, type EvaluationContext } from './evaluation.js';
import type { EvaluationFacts } from '../../offload/verdict.js';
import type { AdmissionWrite } from '../write.js';
import type { Job, JobResults, KnownAnswers, Question } from '../../offload/jobs.js';
import type { Offload } from '../../offload/offload.js';
import { inlineCost } from '../../offload/rule-evaluation.js';

type EvaluationJob = Extract<Job, { readonly answers: KnownAnswers }>;
type Found<J extends EvaluationJob> = Exclude<JobResults[J['type']], Question>;

/** Facts of an evaluation, and the other thread that it can run in. */
export interface EvaluationPlace {
  readonly offload: Offload;
  readonly facts: EvaluationFacts;
  readonly write: AdmissionWrite;
}

function isQuestion(result: unknown): result is Question {
  return typeof result === 'object' && result !== null && 'question' in result;
}

/**
 * Evaluates expressions in this thread, or in another one if they cost too much. Their queries to the authorizer are
 * answered here, and the evaluation restarts with the answer.
 */
export async function evaluateHereOrThere<J extends EvaluationJob>(
  { offload, facts, write }: EvaluationPlace,
  here: (context: EvaluationContext) => Found<J>,
  there: (answers: KnownAnswers) => J,
): Promise<Found<J>> {
  const ask = askOf(write);
  try {
    return here({ facts, ask, inlineCost });
  } catch (error) {
    if (!(error instanceof CelInlineCostError)) throw error;
  }
  // To begin has taken its time, and so does the copy for the other thread.
  await nextTurn();
  const answers: Record<string, { readonly allowed: boolean; readonly reason?: string }> = {};
  for (;;) {
    const result: Found<J> | Question = (await offload.run<EvaluationJob>(there(answers), write.signal)) as
      | Found<J>
      | Question;
    if (!isQuestion(result)) return result;
    answers[JSON.stringify(result.question)] = ask(result.question);
  }
}
