// Packs every package as it would be published.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, pnpm } from './workspace.mjs';
import { readTarballs } from './registry.mjs';

/** Builds what is not built, and packs. @param {string} [folder] @returns {Promise<import('./registry.mjs').Packed[]>} */
export async function packAll(folder = mkdtempSync(join(tmpdir(), 'kctl-packed-'))) {
  // Through pnpm, which turbo looks for on the PATH.
  await must('npx', ['--yes', pnpm, 'exec', 'turbo', 'run', 'build:packages', '--output-logs=errors-only'], {
    timeoutMs: 900_000,
  });
  await must('npx', ['--yes', pnpm, '--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder]);
  return await readTarballs(folder);
}
