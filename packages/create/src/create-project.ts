import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { requireOptions, textOption, withoutUndefined, type OptionNames } from '@kctl/options';
import { namesProblems, type ProjectNames } from './names.js';
import { ownVersion, renderProject } from './render-project.js';
import { writeRecord } from './scaffold-record.js';

/** Options of {@link createProject}. */
export interface CreateProjectOptions extends ProjectNames {
  /** Target folder, which does not exist, or is empty but for `.git`. */
  readonly folder: string;
  /** Version of the @kctl packages. @default that of this package */
  readonly version?: string;
}

const optionNames: OptionNames<CreateProjectOptions> = {
  folder: textOption,
  name: textOption,
  group: textOption,
  kind: textOption,
  for: textOption,
  version: textOption,
};

/**
 * Writes a project.
 *
 * @returns the paths of its files, with slashes
 * @throws TypeError naming the invalid option; Error if the folder has files, in which case nothing is written
 *
 * @example
 * ```ts
 * import { createProject } from '@kctl/create';
 *
 * createProject({ folder: 'websites', name: 'websites', group: 'example.com', kind: 'Website' });
 * createProject({ folder: 'rollouts', name: 'rollouts', group: 'example.com', for: 'Deployment.apps' });
 * ```
 */
export function createProject(options: CreateProjectOptions): readonly string[] {
  requireOptions('createProject', options, optionNames);
  const { folder, name, group, kind, for: builtIn } = options;
  const problems = namesProblems(options);
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  if (existsSync(folder) && readdirSync(folder).some((name) => name !== '.git'))
    throw new Error(`${folder} is not empty: name another folder, or empty it`);
  const files = renderProject(options, options.version ?? ownVersion());
  for (const [path, text] of files) {
    const target = join(folder, ...path.split('/'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  const subject = withoutUndefined<Pick<ProjectNames, 'kind' | 'for'>>({ kind, for: builtIn });
  writeRecord(folder, { name, group, ...subject, files: Object.fromEntries(files) });
  return [...files.keys()];
}
