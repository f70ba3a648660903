import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import { build, type BuildOptions } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inlineElectionWorker } from '../build/inline-election-worker.mjs';

/** A program as users write it. CommonJS has no await at its top. */
const program = `
import { createManager, noopLogger } from '@kctl/runtime';

async function main() {
  const manager = await createManager({
    connection: JSON.parse(process.env.CONNECTION),
    logger: noopLogger,
    leaderElection: { name: process.env.LEASE, namespace: 'default', renewIn: 'worker' },
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  running.catch(() => undefined);
  await manager.elected;
  console.log('elected', manager.isLeader);
  stop.abort();
  await running;
  console.log('ended');
}
void main().catch((error) => {
  console.log(String(error.cause ?? error));
  process.exitCode = 1;
});
`;

/** What bundles of ES modules with CommonJS modules in them often begin with; not needed. */
const requireBanner = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
};

let server: ApiServerWorker;
let folder: string;

beforeAll(async () => {
  server = await startApiServerWorker();
  folder = await mkdtemp(join(tmpdir(), 'kctl-bundle-')); // nothing of the workspace can be resolved from there
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Bundle {
  readonly name: string;
  readonly format: 'esm' | 'cjs';
  readonly isInline: boolean;
  /** With the thread's module beside it. */
  readonly hasEntry: boolean;
  readonly hasBanner?: boolean;
}

async function run({ name, format, isInline, hasEntry, hasBanner = false }: Bundle): Promise<string> {
  const outdir = join(folder, name);
  const extension = format === 'esm' ? '.mjs' : '.cjs';
  const common: BuildOptions = {
    bundle: true,
    platform: 'node',
    target: 'node22',
    conditions: ['@kctl/source'],
    logLevel: 'error',
    absWorkingDir: import.meta.dirname,
  };
  await build({
    ...common,
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile: join(outdir, `main${extension}`),
    format,
    plugins: isInline ? [inlineElectionWorker] : [],
    logOverride: { 'empty-import-meta': 'silent' },
    banner: hasBanner ? requireBanner : {},
  });
  if (hasEntry) {
    await build({
      ...common,
      entryPoints: [join(import.meta.dirname, '../src/election-worker.ts')],
      outdir,
      format: 'esm',
    });
    await writeFile(join(outdir, 'package.json'), '{"type":"module"}');
  }
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  const env = { ...process.env, CONNECTION: JSON.stringify(connection), LEASE: name, NODE_OPTIONS: '' };
  const child = promisify(execFile)(process.execPath, [join(outdir, `main${extension}`)], { env, cwd: folder });
  return await child.then(
    ({ stdout }) => stdout,
    (error: unknown) => String(error instanceof Error && 'stdout' in error ? error.stdout : error),
  );
}

describe('the size of an operator in one file', () => {
  it.each(['esm', 'cjs'] as const)(
    'is at most 1.6 MB minified, without a loader of kubeconfig files: %s',
    { timeout: 300_000 },
    async (format) => {
      const { outputFiles } = await build({
        bundle: true,
        minify: true,
        write: false,
        platform: 'node',
        target: 'node22',
        format,
        conditions: ['@kctl/source'],
        external: ['@kctl/kubeconfig'],
        plugins: [inlineElectionWorker],
        logLevel: 'error',
        logOverride: { 'empty-import-meta': 'silent' },
        absWorkingDir: import.meta.dirname,
        stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'ts' },
      });
      const bytes = outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
      expect(bytes).toBeGreaterThan(500_000);
      expect(bytes).toBeLessThanOrEqual(1_600_000);
    },
  );
});

describe("leaderElection.renewIn: 'worker' in a program of one file", () => {
  it.each<Bundle>([
    { name: 'esm', format: 'esm', isInline: true, hasEntry: false },
    { name: 'banner', format: 'esm', isInline: true, hasEntry: false, hasBanner: true },
    { name: 'cjs', format: 'cjs', isInline: true, hasEntry: false },
    { name: 'entry', format: 'esm', isInline: false, hasEntry: true },
  ])('elects: $name', { timeout: 300_000 }, async (bundle) => {
    expect(await run(bundle)).toBe('elected true\nended\n');
  });

  it('says what is missing where neither the source nor the module is there', async () => {
    const output = await run({ name: 'none', format: 'esm', isInline: false, hasEntry: false });
    expect(output).toContain('make @kctl/runtime/election-worker an entry point of the bundle');
  });
});
