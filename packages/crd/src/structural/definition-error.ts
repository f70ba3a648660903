import { CallSiteError } from '@kctl/apimachinery/internal';

/** One thing in a definition that cannot be, or is not what it seems. */
export interface DefinitionProblem {
  /**
   * Path of the field, such as `v1 spec.parts[].size`; `[]` stands for the items of a list, `{}` for the values of a
   * map.
   */
  readonly field: string;
  /** The value of the field. */
  readonly value: unknown;
  /** Why it cannot be. */
  readonly problem: string;
  /** The remedy. */
  readonly remedy: string;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/** One line for a problem with field, value, cause and remedy. */
export function formatProblem({ field, value, problem, remedy }: DefinitionProblem): string {
  const given = value === undefined ? '' : ` ${shown(value)}`;
  return `${field}${given}: ${problem}${remedy === '' ? '' : `: ${remedy}`}`;
}

/** Thrown by `defineResource`: everything that is wrong with the definition, each with its field and remedy. */
export class ResourceDefinitionError extends CallSiteError {
  override readonly name = 'ResourceDefinitionError';
  readonly code = 'RESOURCE_DEFINITION';
  readonly problems: readonly DefinitionProblem[];

  constructor(resource: string, problems: readonly DefinitionProblem[]) {
    const lines = problems.map(formatProblem);
    super(`defineResource ${resource}: ${lines.length === 1 ? (lines[0] ?? '') : `\n  ${lines.join('\n  ')}`}`);
    this.problems = problems;
  }
}

/** Whether an error is a {@link ResourceDefinitionError}, of this copy of the package or another. */
export function isResourceDefinitionError(error: unknown): error is ResourceDefinitionError {
  return error instanceof Error && error.name === 'ResourceDefinitionError';
}
