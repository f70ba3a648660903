import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The Go types. */
export const goldenTypes: string = join(import.meta.dirname, '..', 'golden');

function go(args: readonly string[], what: string): void {
  const done = spawnSync('go', args, { cwd: goldenTypes, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${what}: ${done.stderr || String(done.error)}`);
}

/** Builds controller-gen, in the version of `golden/go.mod`, into the cache and returns its path. */
export function buildControllerGen(): string {
  const version =
    /controller-tools (v[\d.]+)/.exec(readFileSync(join(goldenTypes, 'go.mod'), 'utf8'))?.[1] ?? 'unknown';
  const cache = join(process.env['KCTL_CACHE'] ?? join(homedir(), '.cache'), 'kctl');
  const binary = join(cache, `controller-gen-${version}`);
  if (existsSync(binary)) return binary;
  mkdirSync(cache, { recursive: true });
  go(
    ['build', '-buildvcs=false', '-o', binary, 'sigs.k8s.io/controller-tools/cmd/controller-gen'],
    'build controller-gen',
  );
  return binary;
}

/** What controller-gen says of the markers that it knows. */
export function markerHelp(binary: string): string {
  const { stdout, stderr } = spawnSync(binary, ['crd', '-w'], { encoding: 'utf8' });
  return `${stdout}${stderr}`;
}

/** The CustomResourceDefinitions that controller-gen writes from the Go types in `golden/`, by name. */
export function runControllerGen(binary: string, options: string): Map<string, Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'kctl-golden-'));
  try {
    const args = [`crd:${options}`, 'paths=./...', `output:crd:dir=${folder}`];
    const done = spawnSync(binary, args, { cwd: goldenTypes, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`controller-gen ${args.join(' ')}: ${done.stderr || String(done.error)}`);
    const definitions = new Map<string, Record<string, unknown>>();
    for (const file of readdirSync(folder)) {
      const definition = parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>;
      const { name } = definition['metadata'] as { name: string };
      definitions.set(name, definition);
    }
    return definitions;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
