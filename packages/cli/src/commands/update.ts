import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { readProject } from '../project.js';
import { functionOfCreate } from '../project-create.js';

/** Options of {@link update}. */
export interface UpdateOptions {
  /** Writes nothing. @default false */
  readonly dryRun?: boolean;
}

/** Result from @kctl/create, with the outcome for each file. */
export interface UpdateOutcome {
  readonly updated: readonly string[];
  readonly conflicts: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
  /** Files that were moved, with their edits; releases before this list moved none. */
  readonly renamed?: readonly { readonly from: string; readonly to: string }[];
  /** A sentence for each value that both have changed; releases before this list did not have it. */
  readonly undecided?: readonly string[];
}

/** Brings the files of a project to those that its @kctl/create makes, by a three-way merge that keeps edits. */
export async function update(io: CliIo, { dryRun = false }: UpdateOptions): Promise<UpdateOutcome> {
  readProject(io.cwd); // what is not right with it would be said of @kctl/create
  const updateProject = await functionOfCreate(io.cwd, 'updateProject', 'update a project');
  const outcome = updateProject({ folder: io.cwd, dryRun });
  if (!isOutcome(outcome))
    throw new CliError('@kctl/create does not report what it updated: run npm install --save-dev @kctl/create@latest');
  return outcome;
}

/** Describes the changes in lines. */
export function describeUpdate(outcome: UpdateOutcome, dryRun: boolean): string {
  const suffix = dryRun ? ' (dry run)' : '';
  const { undecided = [], renamed = [] } = outcome;
  const moves = renamed.map(({ from, to }) => `renamed ${from} to ${to}${suffix}\n`);
  const others = (['updated', 'removed', 'kept'] as const).flatMap((as) =>
    outcome[as].map((path) => `${as} ${path}${suffix}\n`),
  );
  const lines = [...moves, ...others];
  if (outcome.updated.includes('package.json') && !dryRun) lines.push('Next: npm install\n');
  const { updated, removed, conflicts } = outcome;
  const isSame = [undecided, renamed, updated, removed, conflicts].every(({ length }) => length === 0);
  return `${lines.join('')}${isSame ? 'everything is up to date\n' : ''}`;
}

/** @throws CliError with exit code 3 if a person must decide, naming the files and values */
export function failOnConflicts({ conflicts, undecided = [] }: UpdateOutcome, dryRun: boolean): void {
  if (conflicts.length + undecided.length === 0) return;
  if (conflicts.length === 0) throw new CliError(undecided.join('; '), { exitCode: 3 });
  const values = undecided.map((sentence) => `; ${sentence}`).join('');
  throw new CliError(
    `you and kctl have changed the same lines of ${conflicts.join(', ')}: ${dryRun ? 'both would stand there' : 'both stand there'}, between markers as git's${values}`,
    { exitCode: 3 },
  );
}

function isOutcome(value: unknown): value is UpdateOutcome {
  if (typeof value !== 'object' || value === null) return false;
  return ['updated', 'conflicts', 'removed', 'kept'].every((field) => Array.isArray(Reflect.get(value, field)));
}
