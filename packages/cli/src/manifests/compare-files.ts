import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isChartTemplate } from './chart.js';
import type { FileGroup } from './generate-files.js';
import type { GeneratedFiles } from './manifest-input.js';
import { generatedMark } from './yaml.js';

/** Result of a generation, as paths from the project's folder, with slashes. */
export interface GenerateOutcome {
  readonly written: readonly string[];
  readonly unchanged: readonly string[];
  /** Generated files that the operator no longer gives. */
  readonly removed: readonly string[];
}

/** Of the paths that would be written, those with a file that no generation has written. */
export function foreignFiles(output: string, paths: readonly string[]): readonly string[] {
  const isForeign = (path: string): boolean => {
    const content = read(join(output, ...path.split('/'))) ?? '';
    return content.trim() !== '' && !content.startsWith(generatedMark);
  };
  // Templates have no mark. They belong to kctl if the chart does.
  const isTemplate = (path: string): boolean => path.startsWith('chart/templates/');
  const isOwnChart = !isForeign('chart/Chart.yaml');
  return paths.filter((path) => isForeign(path) && !(isTemplate(path) && isOwnChart));
}

/** Folders of a group. Files that are no longer generated are removed only there. */
const ownedFolders: Readonly<Partial<Record<FileGroup, string>>> = {
  crds: 'crds',
  rbac: 'rbac',
  webhooks: 'webhook',
  manager: 'components/service-monitor',
  chart: 'chart/templates',
};

/**
 * Returns the files that a generation would write, leave and remove, as paths below the output folder, with slashes.
 */
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

/** Whether a file was written by an earlier generation. A file that a user has put beside them is kept. */
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
