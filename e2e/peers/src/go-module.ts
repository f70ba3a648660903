/** Go modules as other people's suites come in: downloaded, copied to where they can be written, built once. */
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { runSync } from './command.js';

export const peersCache = join(
  process.env['KCTL_CACHE'] ?? process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'kctl',
  'peers',
);

/** The flags of e2e/kube-apiserver: what both need is compiled once. */
export const goEnvironment = { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' };

export interface GoModule {
  /** Its source, which can be written. */
  readonly source: string;
  /** Builds the tests of a package, once; returns the path of the program. */
  testProgram(pkg: string): string;
}

/** Makes files and folders of a copy from Go's module cache, which is read-only, writable. */
async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeWritable(path);
    else await chmod(path, entry.name.endsWith('.sh') ? 0o755 : 0o644);
  }
}

/** Where Go keeps a module, read-only; downloads it. */
export function moduleFolder(path: string, version: string): string {
  const { stdout } = runSync('go', ['mod', 'download', '-json', `${path}@${version}`], { env: goEnvironment });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** A module at a version, e.g. `sigs.k8s.io/controller-runtime@v0.25.2`. */
export async function goModule(path: string, version: string): Promise<GoModule> {
  const name = basename(path);
  const folder = join(peersCache, `${name}-${version}`);
  const source = join(folder, 'src');
  if (!existsSync(source)) {
    const directory = moduleFolder(path, version);
    const stage = `${source}.${process.pid}`;
    await mkdir(folder, { recursive: true });
    await cp(directory, stage, { recursive: true });
    await makeWritable(stage);
    await rename(stage, source).catch(() => rm(stage, { recursive: true, force: true }));
  }
  return {
    source,
    testProgram(pkg) {
      const program = join(folder, 'bin', `${pkg.replaceAll('/', '_')}.test`);
      if (!existsSync(program)) {
        process.stderr.write(`building the tests of ${name}/pkg/${pkg}\n`);
        runSync('go', ['test', '-vet=off', '-c', '-o', program, `./pkg/${pkg}`], { cwd: source, env: goEnvironment });
      }
      return program;
    },
  };
}
