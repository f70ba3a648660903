// Packs every package as it would be published.
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, pnpm, root } from './workspace.mjs';
import { readTarballs } from './registry.mjs';

/** Builds what is not built, and packs. @param {string} [folder] @returns {Promise<import('./registry.mjs').Packed[]>} */
export async function packAll(folder = mkdtempSync(join(tmpdir(), 'kctl-packed-'))) {
  await must(join(root, 'node_modules', '.bin', 'turbo'), ['run', 'build', '--output-logs=errors-only']);
  for (const name of readdirSync(join(root, 'packages')))
    await must('npx', ['--yes', pnpm, 'pack', '--pack-destination', folder], { cwd: join(root, 'packages', name) });
  return await readTarballs(folder);
}
