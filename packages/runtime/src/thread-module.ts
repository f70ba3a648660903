import { existsSync } from 'node:fs';
import type { ThreadModule } from '@kctl/leader-election';

/**
 * The program of the election's thread, which is the file beside this one or, in a bundle, its source.
 *
 * @throws Error if neither exists
 */
export async function findThreadModule(): Promise<ThreadModule> {
  const here = ownUrl();
  const file = here?.endsWith('.ts') === true ? './election-worker.ts' : './election-worker.js';
  const url = here === undefined ? undefined : new URL(file, here);
  if (url !== undefined && existsSync(url)) return url;
  // Not before it is needed, because it is large.
  const { compressedElectionWorker } = await import('./election-worker-source.js');
  if (compressedElectionWorker !== undefined) {
    const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
    return { source: brotliDecompressSync(Buffer.from(compressedElectionWorker, 'base64')).toString() };
  }
  throw new Error(
    `leaderElection.renewIn: 'worker': the thread's module ${url?.href ?? file} does not exist: make @kctl/runtime/election-worker an entry point of the bundle, called election-worker`,
  );
}

/** A bundle of CommonJS has none. */
function ownUrl(): string | undefined {
  return import.meta.url;
}
