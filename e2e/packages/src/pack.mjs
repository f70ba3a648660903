// Packs every package as it would be published.
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, pnpm, root } from './workspace.mjs';
import { readTarballs } from './registry.mjs';

/** Builds what is not built, and packs. @param {string} [folder] @returns {Promise<import('./registry.mjs').Packed[]>} */
export async function packAll(folder = mkdtempSync(join(tmpdir(), 'kctl-packed-'))) {
  // KCTL_BUILT: what is in dist counts. Through pnpm, which turbo looks for on the PATH.
  await must(
    'npx',
    ['--yes', pnpm, 'exec', 'turbo', 'run', 'build', '--filter=./packages/*', '--output-logs=errors-only'],
    {
      timeoutMs: 900_000,
    },
  );
  for (const name of readdirSync(join(root, 'packages')))
    await must('npx', ['--yes', pnpm, 'pack', '--pack-destination', folder], { cwd: join(root, 'packages', name) });
  return await readTarballs(folder);
}
