import { join } from 'node:path';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { compareFiles, foreignFiles, type GenerateOutcome } from '../manifests/compare-files.js';
import { fileGroups, generateFiles, type FileGroup } from '../manifests/generate-files.js';
import { loadOperator, readProject, shownPath } from '../project.js';
import { ownCommand } from '../own-command.js';
import { changeFiles, type FileChange } from '../write-files.js';

/** Options of {@link generate}. */
export interface GenerateOptions {
  readonly main?: string;
  readonly output?: string;
  readonly image?: string;
  /** Writes nothing, and fails if a file differs. */
  readonly check?: boolean;
  /** Overwrites files that were not generated. @default false, which fails and writes nothing */
  readonly overwrite?: boolean;
}

/** Writes the manifests of a project's operator, or, with `check`, compares them. */
export async function generate(
  io: CliIo,
  groups: readonly FileGroup[],
  options: GenerateOptions,
): Promise<GenerateOutcome> {
  const project = readProject(io.cwd, options);
  const operator = await loadOperator(project);
  const input = { graph: await operator.graph(), image: options.image ?? project.image, version: project.version };
  const files = generateFiles(input, groups);
  const outcome = compareFiles(project.output, files, groups);
  const shown = (paths: readonly string[]): string[] =>
    paths.map((path) => shownPath(io.cwd, join(project.output, ...path.split('/'))));
  const { written, unchanged, removed } = outcome;
  const result = { written: shown(written), unchanged: shown(unchanged), removed: shown(removed) };
  if (options.check === true) return result;
  if (options.overwrite !== true) refuseForeign(shown(foreignFiles(project.output, written)), 'generate');
  const changeOf = (path: string, content?: string): FileChange => {
    const target = join(project.output, ...path.split('/'));
    return { target, shown: shownPath(io.cwd, target), ...(content === undefined ? {} : { content }) };
  };
  changeFiles([
    ...written.map((path) => changeOf(path, files.get(path) ?? '')),
    ...removed.map((path) => changeOf(path)),
  ]);
  return result;
}

/** @throws CliError with exit code 3 if files differ from the generated ones, naming them */
export function failWhereStale({ written, removed }: GenerateOutcome, command: string = ownCommand('generate')): void {
  const stale = [...written, ...removed];
  if (stale.length === 0) return;
  throw new CliError(`generated files are out of date: ${stale.join(', ')}: run ${command} and commit what it writes`, {
    exitCode: 3,
  });
}

/** @throws CliError naming files of the author that would be written over */
export function refuseForeign(paths: readonly string[], command: string): void {
  if (paths.length === 0) return;
  const [were, them] = paths.length === 1 ? ['was', 'it'] : ['were', 'them'];
  throw new CliError(
    `${paths.join(', ')} ${were} not written by kctl, and nothing was changed: move ${them} away, or have ${them} overwritten by ${ownCommand(`${command} --overwrite`)}`,
  );
}

/** The groups that a name stands for. @throws CliError naming the known ones */
export function groupsOf(what: string | undefined): readonly FileGroup[] {
  if (what === undefined || what === 'all') return fileGroups;
  if (what === 'manifests') return fileGroups.filter((group) => group !== 'chart');
  const found = fileGroups.find((group) => group === what || group === `${what}s`);
  if (found === undefined)
    throw new CliError(
      `${ownCommand('generate')} ${what} is not known: expected all, manifests, kinds, ${fileGroups.join(', ')}`,
      {
        exitCode: 2,
      },
    );
  return [found];
}
