import { answer } from './ours.js';
import type { Answer, Question } from './oracle.js';

/** In what two answers differ. */
export interface Difference {
  readonly what: 'compile error' | 'estimated cost' | 'value or error' | 'cost';
  readonly theirs: string;
  readonly ours: string;
}

/** Go walks maps in random order: what a walk that ends early costs, and which error it meets first, is random there. */
function isRandom(rule: string): boolean {
  return /self\.(?:map|free)\.(?:all|exists|exists_one|map|filter|transform\w*)\(|\{[^}]*\}\.(?:all|exists)/.test(rule);
}

/** Where ANTLR's recovery from a syntax error decides: the first error must be equal, what follows from it need not. */
function firstSyntaxError(text: string): string {
  return text.includes('Syntax error') ? (text.split('\n')[0] ?? '') : text;
}

function outcome({ value, error }: Answer): string {
  return error ?? String(value);
}

/** Compares our answer with the API server's. */
export function compare(question: Question, theirs: Answer): Difference | undefined {
  const ours = answer(question);
  const [theirProblem, ourProblem] = [theirs.compileError ?? '', ours.compileError ?? ''].map(firstSyntaxError);
  if (theirProblem !== ourProblem) return { what: 'compile error', theirs: theirProblem ?? '', ours: ourProblem ?? '' };
  if (theirProblem !== '') return undefined;
  // Beyond 2^53, where both are far above every limit, doubles round.
  if (Math.abs(theirs.maxCost - ours.maxCost) > theirs.maxCost * 2 ** -48) {
    return { what: 'estimated cost', theirs: String(theirs.maxCost), ours: String(ours.maxCost) };
  }
  // A defect of cel-go's list extension: it goes on with the error of its argument as if it were a list, and panics.
  if (theirs.error?.startsWith('internal error: interface conversion') === true) return undefined;
  if (isRandom(question.rule)) return undefined;
  if (outcome(theirs) !== outcome(ours))
    return { what: 'value or error', theirs: outcome(theirs), ours: outcome(ours) };
  // What a failure cost depends on how far cel-go evaluates behind it; it counts against the budget and nothing else.
  if (theirs.error !== undefined) return undefined;
  if (theirs.cost !== ours.cost) return { what: 'cost', theirs: String(theirs.cost), ours: String(ours.cost) };
  return undefined;
}
