/** The executables that envtest starts: those of the embedded server, or real ones. */
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBinaries } from '@kctl/kube-apiserver/build';
import { runSync } from './command.js';
import type { TargetName } from './result.js';

export interface Assets extends AsyncDisposable {
  readonly directory: string;
}

const cli = fileURLToPath(new URL('../../../packages/apiserver/src/cli.ts', import.meta.url));
const loader = new URL('../../../scripts/typescript.mjs', import.meta.url).href;
const built = fileURLToPath(new URL('../../../packages/apiserver/dist/cli.js', import.meta.url));

/** With `isBuilt` the published form of the package is started, otherwise its sources. */
export async function prepareAssets(target: TargetName, isBuilt: boolean): Promise<Assets> {
  const directory = await mkdtemp(join(tmpdir(), 'kctl-assets-'));
  if (target === 'embedded') {
    const program = isBuilt ? [built] : ['--conditions=@kctl/source', '--import', loader, cli];
    runSync(process.execPath, [...program, 'envtest-assets', directory]);
  } else {
    const { kubeApiserver, etcd } = await ensureBinaries();
    await symlink(kubeApiserver, join(directory, 'kube-apiserver'));
    await symlink(etcd, join(directory, 'etcd'));
  }
  return {
    directory,
    async [Symbol.asyncDispose]() {
      await endLeftovers(directory);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Some suites leave servers running. Those of this folder are ended; where there is no `/proc`, they stay. */
async function endLeftovers(directory: string): Promise<void> {
  const pids = await readdir('/proc').catch(() => []);
  for (const pid of pids.filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '');
    if (!command.startsWith(`${directory}/`)) continue;
    try {
      // Without its etcd a kube-apiserver does not end by SIGTERM.
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}
