/** What a suite of other people showed on one server. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';

export type TargetName = 'embedded' | 'real';

/** One row of the table: a package, or the commands of one program. */
export interface Group {
  readonly name: string;
  readonly passed: number;
  /** Those that failed, each with the first line of why. */
  readonly failed: readonly { readonly name: string; readonly cause: string }[];
  readonly skipped: number;
  readonly seconds: number;
}

export interface SuiteResult {
  readonly suite: string;
  readonly target: TargetName;
  /** Of what ran. */
  readonly version: string;
  readonly groups: readonly Group[];
}

const folder = new URL('../results/', import.meta.url);
const fileOf = (suite: string, target: TargetName): URL => new URL(`${suite}-${target}.json`, folder);

export async function writeResult(result: SuiteResult): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(result.suite, result.target), `${JSON.stringify(result, undefined, 2)}\n`);
}

export async function readResult(suite: string, target: TargetName): Promise<SuiteResult | undefined> {
  try {
    return JSON.parse(await readFile(fileOf(suite, target), 'utf8')) as SuiteResult;
  } catch {
    return undefined;
  }
}

export function totals(groups: readonly Group[]): { passed: number; failed: number; skipped: number } {
  const sum = (read: (group: Group) => number): number => groups.reduce((total, group) => total + read(group), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed.length),
    skipped: sum(({ skipped }) => skipped),
  };
}
