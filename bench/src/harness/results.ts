// What every benchmark writes, and how its figures are rounded.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

const resultsDirectory = join(import.meta.dirname, '..', '..', 'results');

/** The machine that something is measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  /** Whether it was quiet: how many processes wanted a core before the first measurement. */
  readonly loadBefore: number;
}

export function machineNow(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    loadBefore: rounded(loadavg()[0] ?? 0),
  };
}

/** Writes `results/<name>.json`. */
export function writeResults(name: string, results: object): void {
  mkdirSync(resultsDirectory, { recursive: true });
  writeFileSync(join(resultsDirectory, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Four significant digits: more would claim a precision that there is not. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
