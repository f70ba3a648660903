import type { DefinitionProblem } from './definition-error.js';

/** Collects problems and warnings of a definition. */
export interface Report {
  readonly problems: DefinitionProblem[];
  /** Valid but misleading parts. */
  readonly warnings: string[];
}
