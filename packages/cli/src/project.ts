import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Operator } from '@kctl/operator';
import { messageOf } from '@kctl/telemetry/internal';
import { CliError } from './errors.js';

/** Settings of a project, from the field `kctl` of its package.json. */
export interface Project {
  readonly folder: string;
  /** The module that exports the operator, absolute. */
  readonly main: string;
  /** The folder of generated manifests, absolute. */
  readonly output: string;
  readonly image: string;
  /** `version` of its package.json, used for the chart. @default 0.1.0 */
  readonly version: string;
}

const knownFields: readonly string[] = ['main', 'output', 'image'];

/** As npm and Helm require it, three numbers, then pre-release and build, each after its sign. */
const semanticVersion = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** Reads the project in a folder. @throws CliError naming the file, or the field, that is not right */
export function readProject(folder: string, given: { readonly main?: string; readonly output?: string } = {}): Project {
  const file = join(folder, 'package.json');
  if (!existsSync(file))
    throw new CliError(
      `there is no package.json in ${folder}: run kctl in the folder of an operator, or make one by npm create @kctl`,
    );
  const manifest = readJson(file);
  const settings = manifest['kctl'] ?? {};
  if (!isObject(settings))
    throw new CliError(
      `${file}: kctl ${JSON.stringify(settings)} is not valid: expected an object with ${knownFields.join(', ')}`,
    );
  const unknown = Object.keys(settings).filter((field) => !knownFields.includes(field));
  if (unknown.length > 0)
    throw new CliError(`${file}: kctl.${unknown.join(', kctl.')} is not known: expected ${knownFields.join(', ')}`);
  const textOf = (field: string, fallback: string): string => {
    const value = settings[field] ?? fallback;
    if (typeof value !== 'string' || value === '')
      throw new CliError(`${file}: kctl.${field} ${JSON.stringify(value)} is not valid: expected a string`);
    return value;
  };
  const name = typeof manifest['name'] === 'string' ? manifest['name'].replace(/^@[^/]*\//, '') : 'operator';
  const main = resolve(folder, given.main ?? textOf('main', 'src/main.ts'));
  const output = resolve(folder, given.output ?? textOf('output', 'deploy'));
  const version = manifest['version'] ?? '0.1.0';
  if (typeof version !== 'string' || !semanticVersion.test(version))
    throw new CliError(`${file}: version ${JSON.stringify(version)} is not valid: expected one such as 1.0.0`);
  return { folder, main, output, image: textOf('image', `${name}:latest`), version };
}

/**
 * Imports the operator of a project; nothing of it starts.
 *
 * @throws CliError when the module is not there, cannot be imported, or exports none
 */
export async function loadOperator({ main, folder }: Project): Promise<Operator> {
  if (!existsSync(main))
    throw new CliError(
      `${shownPath(folder, main)} does not exist: name the module that exports the operator by --main, or by kctl.main in package.json`,
    );
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(main).href);
  } catch (error) {
    throw new CliError(`${shownPath(folder, main)} cannot be imported: ${importProblem(folder, error)}`, {
      cause: error,
    });
  }
  const found: unknown = typeof loaded === 'object' && loaded !== null ? Reflect.get(loaded, 'operator') : undefined;
  if (!isOperator(found))
    throw new CliError(
      `${shownPath(folder, main)} exports no operator: add export const operator = defineOperator({ … }) of @kctl/operator`,
    );
  return found;
}

/**
 * Why a module cannot be imported, with the author's file and line. The named module imports others, and an error has
 * its location only in its stack.
 */
export function importProblem(folder: string, error: unknown): string {
  const message = messageOf(error);
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  const [first = '', ...frames] = lines;
  // Node puts the location of a parse or link error before the error; else it is in the frames.
  const places = [
    /^(\S.*):(\d+)$/.exec(first),
    ...frames.map((frame) => /^ +at .*?((?:file:|\/|[A-Z]:\\).*?):(\d+):\d+\)?$/.exec(frame)),
  ];
  for (const place of places) {
    const path = placePath(place?.[1] ?? '');
    const shown = shownPath(folder, path);
    if (path === '' || shown === path || shown.includes('node_modules/')) continue;
    return message.includes(path) ? message : `${shown}:${place?.[2] ?? ''}: ${message}`;
  }
  return message;
}

/** The path that a stack names, by its URL or as it is; a query separates two imports of one file from each other. */
function placePath(place: string): string {
  if (!place.startsWith('file:')) return isAbsolute(place) ? place : '';
  return URL.canParse(place) ? fileURLToPath(place) : '';
}

/** A path for display, relative if it is inside of the folder, with slashes on every system. */
export function shownPath(folder: string, path: string): string {
  const inside = relative(folder, path);
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside.split(sep).join('/');
}

function isOperator(value: unknown): value is Operator {
  return typeof value === 'object' && value !== null && 'graph' in value && typeof value.graph === 'function';
}

function readJson(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isObject(value)) throw new TypeError('expected an object');
    return value;
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
