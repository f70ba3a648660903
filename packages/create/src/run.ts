import { spawnSync } from 'node:child_process';
import { basename, relative, resolve } from 'node:path';
import { cancel, intro, isCancel, outro, text } from '@clack/prompts';
import { Command, CommanderError } from 'commander';
import { createProject } from './create-project.js';
import { findBuiltIn, nameOfBuiltIn } from './find-built-in.js';
import { nameProblem, type ProjectNames } from './names.js';

/** Input and output of `npm create @kctl`, which is the process or a test. */
export interface CreateIo {
  readonly cwd: string;
  /** Whether the user can be prompted. */
  readonly isInteractive: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Runs npm in a folder. @returns its exit code */
  readonly npm: (folder: string, given: readonly string[]) => number;
}

/** npm as it is found; on Windows it is a script, which needs a shell. */
export function runNpm(folder: string, given: readonly string[]): number {
  const result = spawnSync('npm', [...given], { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' });
  return result.status ?? 1;
}

interface Flags {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly for?: string;
  readonly yes?: boolean;
  readonly install: boolean;
}

/** Runs the command line. @returns the exit code: 0 done, 1 failed, 2 called wrongly, 130 ended by the person */
export async function runCreate(io: CreateIo, given: readonly string[]): Promise<number> {
  const program = new Command('create-kctl')
    .description('Makes an operator in TypeScript: npm create @kctl@latest my-operator')
    .argument('[folder]', 'folder of the project')
    .option('--name <name>', 'name of the operator (default: the name of the folder)')
    .option('--group <domain>', 'group of the API (default: example.com)')
    .option('--kind <Kind>', 'kind of the custom resource (default: Greeting)')
    .option('--for <Kind.group>', 'built-in kind to reconcile instead of a custom resource, such as Deployment.apps')
    .option('--yes', 'ask nothing')
    .option('--no-install', 'leave npm install and npm run generate to you')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: () => undefined });
  try {
    program.parse([...given], { from: 'user' });
    const flags = program.opts<Flags>();
    const answers = await ask(io, program.args[0], flags);
    if (answers === undefined) return 130;
    return make(io, answers, flags);
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      io.err(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ')}: see npm create @kctl -- --help\n`);
      return 2;
    }
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof TypeError ? 2 : 1;
  }
}

interface Answers extends ProjectNames {
  readonly folder: string;
}

/** The flags, completed by prompts or the defaults; undefined if the user cancels. */
async function ask(io: CreateIo, given: string | undefined, flags: Flags): Promise<Answers | undefined> {
  const mayAsk = io.isInteractive && flags.yes !== true;
  if (mayAsk) intro('An operator in TypeScript');
  const question = async (
    field: keyof ProjectNames | undefined,
    message: string,
    initial: string,
  ): Promise<string | undefined> => {
    if (!mayAsk) return initial;
    const check = (value: string | undefined): string | undefined =>
      field === undefined || (value ?? '') === '' ? undefined : nameProblem(field, value ?? '');
    // Not as a value to edit, because what a person types would be added to it.
    const answer = await text({ message, placeholder: initial, defaultValue: initial, validate: check });
    if (!isCancel(answer)) return answer;
    cancel('Nothing was written.');
    return undefined;
  };
  const folder = given ?? (await question(undefined, 'Folder', 'my-operator'));
  if (folder === undefined) return undefined;
  const name = flags.name ?? (await question('name', 'Name', basename(resolve(io.cwd, folder)).toLowerCase()));
  if (name === undefined) return undefined;
  const { for: builtIn } = flags;
  const ofGroup = builtIn === undefined ? 'Group of the API' : 'Prefix of the label';
  const group = flags.group ?? (await question('group', ofGroup, 'example.com'));
  if (group === undefined) return undefined;
  if (builtIn !== undefined)
    return { folder, name, group, for: builtIn, ...(flags.kind === undefined ? {} : { kind: flags.kind }) };
  const kind = flags.kind ?? (await question('kind', 'Kind', 'Greeting'));
  return kind === undefined ? undefined : { folder, name, group, kind };
}

function make(io: CreateIo, { folder, ...names }: Answers, { install, name }: Flags): number {
  const target = resolve(io.cwd, folder);
  const problem = name !== undefined ? undefined : nameProblem('name', names.name);
  if (problem !== undefined) throw new TypeError(`${problem}: it is that of the folder, give another by --name`);
  const files = createProject({ folder: target, ...names });
  io.out(`wrote ${files.length} files to ${folder}\n`);
  const sameName = names.for === undefined && names.kind !== undefined ? findBuiltIn(names.kind) : undefined;
  if (sameName !== undefined)
    io.out(
      `${sameName.kind} is a custom resource of ${names.group}; --for ${nameOfBuiltIn(sameName)} makes an operator for the built-in kind\n`,
    );
  if (install) {
    const steps = [
      ['install', '--no-fund', '--no-audit'],
      ['run', '--silent', 'generate'],
    ];
    for (const step of steps) {
      if (io.npm(target, step) === 0) continue;
      io.err(`npm ${step.join(' ')} failed in ${folder}: the files are there; run it again\n`);
      return 1;
    }
  }
  const shown = relative(io.cwd, target);
  const next = [
    ...(shown === '' ? [] : [`cd ${quoted(shown)}`]),
    ...(install ? [] : ['npm install', 'npm run generate']),
    'npm test',
    'npm run dev',
  ];
  const message = `Next:\n${next.map((line) => `  ${line}`).join('\n')}\n`;
  if (io.isInteractive) outro(message.trimEnd());
  else io.out(message);
  return 0;
}

/** A path as a shell takes it; double quotes are those that every shell has, and a path of Windows. */
function quoted(path: string): string {
  return /^[\w./\\:-]+$/.test(path) ? path : `"${path.replace(/["$`]/g, '\\$&')}"`;
}
