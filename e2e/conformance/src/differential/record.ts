/** What a differential run came to, as a file in `results/differential`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { release } from '../versions.js';
import type { DifferentialResult } from './run.js';

export function writeDifferential({
  seed,
  mix,
  calls,
  unexplained,
  byReason,
  counts,
  seconds,
}: DifferentialResult & { readonly seed: number; readonly mix: readonly string[]; readonly seconds: number }): void {
  const folder = fileURLToPath(new URL('../../results/differential/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const result = { release, commit, seed, mix, calls, date, seconds, unexplained, explained: byReason, counts };
  writeFileSync(`${folder}seed-${seed}.json`, `${JSON.stringify(result, null, 2)}\n`);
}
