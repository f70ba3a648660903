import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesProblems, type ProjectNames } from './names.js';

/** Origin of a project, by which a later release separates the edits of an author from its changes. */
export interface ScaffoldRecord extends ProjectNames {
  /** Files as they were written, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Path of a project's record; it is committed. */
export const recordPath = '.kctl/scaffold.json';

function fileOf(folder: string): string {
  return join(folder, ...recordPath.split('/'));
}

/** Writes the record of a project. */
export function writeRecord(folder: string, record: ScaffoldRecord): void {
  const file = fileOf(folder);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
}

/**
 * Reads the record of a project. @throws Error if there is no record, or if it is not in the format of
 * {@link writeRecord}
 */
export function readRecord(folder: string): ScaffoldRecord {
  const record = findRecord(folder);
  if (record !== undefined) return record;
  throw new Error(
    `${fileOf(folder)} does not exist: npx kctl update brings projects up to date that npm create @kctl has made`,
  );
}

/** {@link readRecord}; undefined if there is no record. */
export function findRecord(folder: string): ScaffoldRecord | undefined {
  const file = fileOf(folder);
  if (!existsSync(file)) return undefined;
  if ([dirname(file), file].some((place) => lstatSync(place).isSymbolicLink()))
    throw new Error(`${file} is or is below a symbolic link: a project has its record as a file`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} is not JSON: take it from the commit that was good`, { cause: error });
  }
  const remedy = 'take it from the commit that was good';
  if (!isRecord(value)) throw new Error(`${file} is not valid: ${remedy}`);
  // The record is committed, so its names become code and its paths are written and deleted.
  const problem = [...namesProblems(value), ...Object.keys(value.files).map(pathProblem)].find(
    (each) => each !== undefined,
  );
  if (problem !== undefined) throw new Error(`${file} is not valid: ${problem}: ${remedy}`);
  return value;
}

/** Why a path is not that of a file of the project. */
function pathProblem(path: string): string | undefined {
  const parts = path.split('/');
  const isInside =
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\:\0]/.test(part)) &&
    !['.git', 'node_modules'].includes((parts[0] ?? '').toLowerCase());
  return isInside ? undefined : `files: ${JSON.stringify(path)} is not the path of a file of the project`;
}

function isRecord(value: unknown): value is ScaffoldRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = ['name', 'group'].map((field): unknown => Reflect.get(value, field));
  const subject = ['kind', 'for'].map((field): unknown => Reflect.get(value, field));
  const files: unknown = Reflect.get(value, 'files');
  return (
    fields.every((field) => typeof field === 'string') &&
    subject.every((field) => field === undefined || typeof field === 'string') &&
    typeof files === 'object' &&
    files !== null &&
    Object.values(files).every((text) => typeof text === 'string')
  );
}
