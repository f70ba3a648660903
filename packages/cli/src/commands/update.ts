import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { functionOfCreate } from '../project-create.js';

/** Options of {@link update}. */
export interface UpdateOptions {
  /** Writes nothing. @default false */
  readonly dryRun?: boolean;
}

/** What @kctl/create returns of it: what became of which files. */
interface Outcome {
  readonly updated: readonly string[];
  readonly conflicts: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Brings the files of a project to those that its @kctl/create makes, by a three-way merge that keeps edits.
 *
 * @throws CliError with exit code 3 where a person has to decide, naming the files
 */
export async function update(io: CliIo, { dryRun = false }: UpdateOptions): Promise<void> {
  const updateProject = await functionOfCreate(io.cwd, 'updateProject', 'update a project');
  const outcome = updateProject({ folder: io.cwd, dryRun });
  if (!isOutcome(outcome))
    throw new CliError('@kctl/create does not say what it updated: run npm install --save-dev @kctl/create@latest');
  const suffix = dryRun ? ' (dry run)' : '';
  for (const as of ['updated', 'removed', 'kept'] as const)
    for (const path of outcome[as]) io.out(`${as} ${path}${suffix}\n`);
  if (outcome.conflicts.length > 0)
    throw new CliError(
      `you and kctl have changed the same lines of ${outcome.conflicts.join(', ')}: ${dryRun ? 'both would stand there' : 'both stand there'}, between markers as git's`,
      { exitCode: 3 },
    );
  if (outcome.updated.length + outcome.removed.length === 0) io.out('everything is up to date\n');
}

function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null) return false;
  return ['updated', 'conflicts', 'removed', 'kept'].every((field) => Array.isArray(Reflect.get(value, field)));
}
