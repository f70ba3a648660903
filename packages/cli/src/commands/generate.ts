import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { isChartTemplate } from '../manifests/chart.js';
import { fileGroups, generateFiles, type FileGroup } from '../manifests/generate-files.js';
import type { GeneratedFiles } from '../manifests/manifest-input.js';
import { generatedMark } from '../manifests/yaml.js';
import { loadOperator, readProject, shownPath } from '../project.js';
import { ownCommand } from '../own-command.js';
import { changeFiles, type FileChange } from '../write-files.js';

/** Options of {@link generate}. */
export interface GenerateOptions {
  readonly main?: string;
  readonly output?: string;
  readonly image?: string;
  /** Writes nothing, and fails where a file differs. */
  readonly check?: boolean;
  /** Writes over files that no generation has written. @default false: it fails, and writes nothing */
  readonly overwrite?: boolean;
}

/** What a generation found: paths from the project's folder, with slashes. */
export interface GenerateOutcome {
  readonly written: readonly string[];
  readonly unchanged: readonly string[];
  /** Generated files that the operator no longer gives. */
  readonly removed: readonly string[];
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

/** @throws CliError with exit code 3 where files differ from what would be generated, naming them */
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

/** Of the paths that would be written, those with a file that no generation has written. */
function foreignFiles(output: string, paths: readonly string[]): readonly string[] {
  const isForeign = (path: string): boolean => {
    const content = read(join(output, ...path.split('/'))) ?? '';
    return content.trim() !== '' && !content.startsWith(generatedMark);
  };
  // Templates have no mark: they are kctl's where the chart is.
  const isTemplate = (path: string): boolean => path.startsWith('chart/templates/');
  const isOwnChart = !isForeign('chart/Chart.yaml');
  return paths.filter((path) => isForeign(path) && !(isTemplate(path) && isOwnChart));
}

/** Folders of a group: what is not generated any longer is removed there, and nowhere else. */
const ownedFolders: Readonly<Partial<Record<FileGroup, string>>> = {
  crds: 'crds',
  rbac: 'rbac',
  webhooks: 'webhook',
  manager: 'components/service-monitor',
  chart: 'chart/templates',
};

/** What a generation would write, leave and remove: paths below the output folder, with slashes. */
export function compareFiles(output: string, files: GeneratedFiles, groups: readonly FileGroup[]): GenerateOutcome {
  const same = [...files].filter(([path, content]) => read(join(output, ...path.split('/'))) === content);
  const unchanged = same.map(([path]) => path);
  const written = [...files.keys()].filter((path) => !unchanged.includes(path));
  const removed = groups.flatMap((group) => {
    const folder = ownedFolders[group];
    if (folder === undefined) return [];
    return listFiles(join(output, ...folder.split('/')))
      .filter((name) => !files.has(`${folder}/${name}`) && isGenerated(group, join(output, ...folder.split('/'), name)))
      .map((name) => `${folder}/${name}`);
  });
  return { written, unchanged, removed };
}

/** Whether a file is an earlier generation's: one that a person has put beside them stays. */
function isGenerated(group: FileGroup, file: string): boolean {
  return group === 'chart' ? isChartTemplate(basename(file)) : read(file)?.startsWith(generatedMark) === true;
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.yaml') && statSync(join(folder, name)).isFile());
  } catch {
    return [];
  }
}

/** Line ends as git may have made them on Windows count as equal. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
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
