import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileNameOf, nameProblem, type ProjectNames } from './names.js';

/** Options of {@link createProject}. */
export interface CreateProjectOptions extends ProjectNames {
  /** Where to: a folder that does not exist, or is empty. */
  readonly folder: string;
  /** Version of the @kctl packages. @default that of this package */
  readonly version?: string;
}

/**
 * Writes a project.
 *
 * @returns the paths of its files, with slashes
 * @throws TypeError naming what is not valid; Error when the folder has files: nothing is written then
 *
 * @example
 * ```ts
 * import { createProject } from '@kctl/create';
 *
 * createProject({ folder: 'websites', name: 'websites', group: 'example.com', kind: 'Website' });
 * ```
 */
export function createProject(options: CreateProjectOptions): readonly string[] {
  const { folder, name, group, kind } = options;
  const problems = Object.entries({ name, group, kind }).flatMap(
    ([field, value]) => nameProblem(field as keyof ProjectNames, value) ?? [],
  );
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty: name another folder, or empty it`);
  const words: Readonly<Record<string, string>> = {
    name,
    group,
    Kind: kind,
    'kind-file': fileNameOf(kind),
    version: options.version ?? ownVersion(),
  };
  const replace = (text: string): string =>
    text.replace(/__([A-Za-z-]+?)__/g, (whole, word: string) => words[word] ?? whole);
  const files = readdirSync(template, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return files
    .map((source) => {
      const path = shippedName(replace(relative(template, source).split(sep).join('/')));
      const target = join(folder, ...path.split('/'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, replace(readFileSync(source, 'utf8')));
      return path;
    })
    .sort();
}

const template: string = fileURLToPath(new URL('../template', import.meta.url));

/** npm leaves out or renames files that begin with a dot: they are packed with an underscore. */
function shippedName(path: string): string {
  return path.replace(/(^|\/)_(gitignore|dockerignore|github)(?=\/|$)/g, '$1.$2');
}

function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? `^${version}` : 'latest';
}
