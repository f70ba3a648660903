// What every benchmark writes, and how its figures are rounded.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

const resultsDirectory = join(import.meta.dirname, '..', '..', 'results');

/** The machine that something is measured on. */
                          
                       
                         
                             
                          
                                                                                             
                              
 

export function machineNow()          {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    loadBefore: rounded(loadavg()[0] ?? 0),
  };
}

/** Writes `results/<name>.json`. */
export function writeResults(name        , results        )       {
  mkdirSync(resultsDirectory, { recursive: true });
  writeFileSync(join(resultsDirectory, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

export function median(values                   )         {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Four significant digits: more would claim a precision that there is not. */
export function rounded(value        )         {
  return Number(value.toPrecision(4));
}
