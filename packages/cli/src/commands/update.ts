import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';

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

type Update = (options: { readonly folder: string; readonly dryRun: boolean }) => Outcome;

/**
 * Brings the files of a project to those that its @kctl/create makes, by a three-way merge that keeps edits.
 *
 * @throws CliError with exit code 3 where a person has to decide, naming the files
 */
export async function update(io: CliIo, { dryRun = false }: UpdateOptions): Promise<void> {
  const updateProject = await findUpdate(io.cwd);
  let outcome: Outcome;
  try {
    outcome = updateProject({ folder: io.cwd, dryRun });
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error });
  }
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

/** Of the release that the project has installed: its files are those to come. */
async function findUpdate(folder: string): Promise<Update> {
  let path: string;
  try {
    path = createRequire(join(folder, 'package.json')).resolve('@kctl/create');
  } catch (error) {
    throw new CliError('@kctl/create is not installed: run npm install --save-dev @kctl/create@latest', {
      cause: error,
    });
  }
  const loaded: unknown = await import(pathToFileURL(path).href);
  const found: unknown =
    typeof loaded === 'object' && loaded !== null ? Reflect.get(loaded, 'updateProject') : undefined;
  if (!isUpdate(found))
    throw new CliError('@kctl/create is too old to update a project: run npm install --save-dev @kctl/create@latest');
  return found;
}

function isUpdate(value: unknown): value is Update {
  return typeof value === 'function';
}
