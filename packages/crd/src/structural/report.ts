import type { DefinitionProblem } from './definition-error.js';

/** Where problems and warnings of a definition are collected. */
export interface Report {
  readonly problems: DefinitionProblem[];
  /** What is not wrong, and not what it seems. */
  readonly warnings: string[];
}
