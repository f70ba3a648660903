import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { functionOfCreate } from '../project-create.js';
import { readProject } from '../project.js';
import { ownCommand } from '../own-command.js';

/** Kinds of additions. */
export const additions: readonly string[] = ['resource', 'controller', 'webhook'];

/** Options of {@link add}. */
export interface AddOptions {
  readonly main?: string;
  /** Of the API. @default that which the project was made with */
  readonly group?: string;
  /** Writes nothing. @default false */
  readonly dryRun?: boolean;
}

/** Added files, as paths with slashes. */
export interface AddOutcome {
  readonly written: readonly string[];
  readonly changed: readonly string[];
  /** Manual steps, a sentence each. */
  readonly todo: readonly string[];
}

/** Adds a kind, a controller or a webhook to the project, as its @kctl/create makes them. */
export async function add(
  io: CliIo,
  { what, kind }: { readonly what: string; readonly kind: string },
  { group, dryRun = false, ...given }: AddOptions,
): Promise<AddOutcome> {
  const { folder, main } = readProject(io.cwd, given);
  const addToProject = await functionOfCreate(folder, 'addToProject', `add a ${what}`);
  const outcome = addToProject({ folder, what, kind, main, dryRun, ...(group === undefined ? {} : { group }) });
  if (!isOutcome(outcome))
    throw new CliError('@kctl/create does not report what it added: run npm install --save-dev @kctl/create@latest');
  return outcome;
}

/** Describes the additions in lines, followed by the next steps. */
export function describeAddition({ written, changed, todo }: AddOutcome, dryRun: boolean): string {
  const suffix = dryRun ? ' (dry run)' : '';
  const lines = [
    ...written.map((path) => `wrote ${path}${suffix}`),
    ...changed.map((path) => `changed ${path}${suffix}`),
    ...todo.map((line) => `to do: ${line}`),
    ...(dryRun ? [] : [`Next: npm test, and ${ownCommand('generate')}, which writes its manifests and rights`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function isOutcome(value: unknown): value is AddOutcome {
  if (typeof value !== 'object' || value === null) return false;
  return ['written', 'changed', 'todo'].every((field) => Array.isArray(Reflect.get(value, field)));
}
