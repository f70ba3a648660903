/** What a differential run came to, as a file in `results/differential`. */
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
}: DifferentialResult & { readonly seed: number; readonly mix: readonly string[] }): void {
  const folder = fileURLToPath(new URL('../../results/differential/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const result = { release, seed, mix, calls, date, unexplained, explained: byReason };
  writeFileSync(`${folder}seed-${seed}.json`, `${JSON.stringify(result, null, 2)}\n`);
}
