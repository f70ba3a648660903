import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix, relative, sep } from 'node:path';
import { booleanOption, oneOfOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import { editMain, type Compiler, type MainEdit } from './edit-main.js';
import { additionSubject, missingPackages, requireResource } from './addition-subject.js';
import { fileNameOf, nameProblem } from './names.js';
import { ownVersion, renderAdditions } from './render-project.js';
import { findRecord } from './scaffold-record.js';

/** Kinds of additions. */
export type Addition = 'resource' | 'controller' | 'webhook';

/** Options of {@link addToProject}. */
export interface AddToProjectOptions {
  readonly folder: string;
  readonly what: Addition;
  /**
   * Of the custom resource; for a controller also a built-in kind, as `Kind`, `Kind.group` or `Kind.version.group`. A
   * custom resource of the project comes before a built-in kind with its name.
   */
  readonly kind: string;
  /**
   * Of the API; with a built-in kind the prefix of its label. @default that which the project was made with
   */
  readonly group?: string;
  /** The module that defines the operator, absolute. @default src/main.ts */
  readonly main?: string;
  /** The operator's, as it is written into what is added. @default that which the project was made with */
  readonly name?: string;
  /** Writes nothing. @default false */
  readonly dryRun?: boolean;
}

const optionNames: OptionNames<AddToProjectOptions> = {
  folder: textOption,
  what: oneOfOption('resource', 'controller', 'webhook'),
  kind: textOption,
  group: textOption,
  main: textOption,
  name: textOption,
  dryRun: booleanOption,
};

/** Result of {@link addToProject}, as paths with slashes. */
export interface AddOutcome {
  readonly written: readonly string[];
  /** Existing files that were changed, which is the module that defines the operator. */
  readonly changed: readonly string[];
  /** Manual steps, a sentence each; empty if the module could be changed. */
  readonly todo: readonly string[];
}

/**
 * Adds a kind, a controller or a webhook to a project, with a sample, a test, and the lines in the module that defines
 * the operator.
 *
 * @throws TypeError naming the invalid option; Error if a file already exists, or the kind does not, in which case
 * nothing is written
 *
 * @example
 * ```ts
 * import { addToProject } from '@kctl/create';
 *
 * addToProject({ folder: 'websites', what: 'resource', kind: 'Certificate' });
 * addToProject({ folder: 'websites', what: 'controller', kind: 'Certificate' });
 * addToProject({ folder: 'websites', what: 'controller', kind: 'Deployment.apps' });
 * ```
 */
export function addToProject(options: AddToProjectOptions): AddOutcome {
  requireOptions('addToProject', options, optionNames);
  const { folder, what, dryRun = false, main = join(folder, 'src', 'main.ts') } = options;
  const record = findRecord(folder);
  const { group = record?.group, name = record?.name ?? 'operator' } = options;
  const { kind, builtIn } = additionSubject(options);
  const problems = [
    nameProblem('name', name),
    nameProblem('kind', kind),
    ...(group === undefined ? [] : [nameProblem('group', group)]),
  ];
  if (problems.some((problem) => problem !== undefined))
    throw new TypeError(problems.filter((problem) => problem !== undefined).join('; '));
  if (what === 'resource' && group === undefined)
    throw new TypeError('group is required: the project has no record of the one that it was made with');
  if (!existsSync(main))
    throw new Error(`${shown(folder, main)} does not exist: name the module that defines the operator`);
  if (what !== 'resource' && builtIn === undefined) requireResource(options);
  const subject = builtIn === undefined ? { kind } : { for: options.kind };
  const files = renderAdditions(what, { name, group: group ?? 'example.com', ...subject }, ownVersion());
  const taken = [...files.keys()].filter((path) => existsSync(join(folder, ...path.split('/'))));
  if (taken.length > 0)
    throw new Error(`${taken.join(', ')} would be overwritten: ${kind} has a ${what}, or remove it first`);
  const outside = [...files.keys()].filter((path) => leadsOut(folder, path));
  if (outside.length > 0)
    throw new Error(`${outside.join(', ')} would be written through a symbolic link that leads out of the project`);
  const before = readFileSync(main, 'utf8');
  const edit = editOf(what, kind, { folder, main });
  const compiler = findCompiler(folder);
  const { text, todo } =
    compiler === undefined
      ? {
          text: before,
          todo: [`typescript is not installed: add ${edit.name} of ${edit.from} to ${shown(folder, main)}`],
        }
      : editMain(compiler, before, edit);
  const changed = text === before ? [] : [shown(folder, main)];
  const missing = what === 'resource' ? missingPackages(folder) : [];
  const installs = missing.length === 0 ? [] : [`run npm install ${missing.join(' ')}, which define kinds`];
  if (!dryRun) {
    for (const [path, content] of files) {
      const target = join(folder, ...path.split('/'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content, { flag: 'wx' });
    }
    if (changed.length > 0) writeFileSync(main, text);
  }
  return { written: [...files.keys()], changed, todo: [...installs, ...todo] };
}

/** Whether the folder of a file to be written is outside of the project, despite its path. */
function leadsOut(folder: string, path: string): boolean {
  let place = dirname(join(folder, ...path.split('/')));
  while (!existsSync(place)) place = dirname(place);
  const root = realpathSync(folder);
  const real = realpathSync(place);
  return real !== root && !real.startsWith(root + sep);
}

function editOf(
  what: Addition,
  kind: string,
  { folder, main }: { readonly folder: string; readonly main: string },
): MainEdit {
  const file = fileNameOf(kind);
  const from = (path: string): string => {
    const inside = posix.relative(posix.dirname(shown(folder, main)), path);
    return inside.startsWith('.') ? inside : `./${inside}`;
  };
  switch (what) {
    case 'resource':
      return { name: kind, from: from(`src/api/${file}.ts`), as: 'resource' };
    case 'controller':
      return { name: `add${kind}Controller`, from: from(`src/controllers/${file}.ts`), as: 'call' };
    case 'webhook':
      return { name: `add${kind}Webhook`, from: from(`src/webhooks/${file}.ts`), as: 'call' };
  }
}

/**
 * The compiler of the project, which every project has to check its types; undefined if there is no compiler with a
 * syntax tree.
 */
function findCompiler(folder: string): Compiler | undefined {
  try {
    const loaded: unknown = createRequire(join(folder, 'package.json'))('typescript');
    return isCompiler(loaded) ? loaded : undefined;
  } catch {
    return undefined;
  }
}

function isCompiler(value: unknown): value is Compiler {
  return typeof value === 'object' && value !== null && 'createSourceFile' in value && 'forEachChild' in value;
}

function shown(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}
