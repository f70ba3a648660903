/**
 * Checks of options: names, values and the errors that name what does not fit.
 *
 * @packageDocumentation
 */
import { requireSupportedNode } from './supported-node.js';
export { decides, refusedOption, sentOptions } from './decisions.js';
export type { AnsweredOptions, Decision, Decisions, RefusedOption, SentOptions } from './decisions.js';
export { isThenable } from './is-thenable.js';
export { numberProblem } from './number-problem.js';
export type { NumberRange } from './number-problem.js';
export {
  booleanOption,
  clockOption,
  functionOption,
  isSignal,
  listOption,
  numberOption,
  objectOption,
  oneOfOption,
  optionWithMethods,
  signalOption,
  textOption,
  textsOption,
} from './option-check.js';
export type { OptionCheck } from './option-check.js';
export {
  nearestName,
  nestedOptions,
  optionProblems,
  requireNoSimilarName,
  requireOptions,
  unknownOptions,
} from './require-options.js';
export type { OptionNames } from './require-options.js';
export { requireSignal } from './require-signal.js';
export { shownArgument, shownType, shownValue } from './shown-value.js';
export { withoutUndefined } from './without-undefined.js';

requireSupportedNode();
