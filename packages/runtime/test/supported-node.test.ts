// Built packages refuse an old Node at import, because tree-shaking must not drop the check.
import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const packages = join(import.meta.dirname, '..', '..');
const names = readdirSync(packages);

/** An entry point as tsup builds it: packages stay outside, unused imports go. */
async function built(name: string): Promise<{ readonly code: string; readonly imports: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(packages, name, 'src', 'index.ts')],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    conditions: ['@kctl/source'],
    write: false,
    metafile: true,
    outdir: 'dist',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { code: outputFiles[0]?.text ?? '', imports };
}

describe('an old Node', async () => {
  const entries = new Map(await Promise.all(names.map(async (name) => [name, await built(name)] as const)));
  const isGuarded = (name: string): boolean => {
    const entry = entries.get(name);
    return (
      entry !== undefined &&
      (/^requireSupportedNode\(\);$/m.test(entry.code) ||
        entry.imports.some((path) => path.startsWith('@kctl/') && isGuarded(path.slice('@kctl/'.length))))
    );
  };

  it.each(names)('is refused by the built @kctl/%s', (name) => {
    expect(isGuarded(name)).toBe(true);
  });

  it('is refused by one module, which the commands import before any other', () => {
    const sources = names.flatMap((name) => globSync(join(packages, name, 'src', '**', '*.ts')));
    const stating = sources.filter((file) => /requires Node|\b22\.19\b/.test(readFileSync(file, 'utf8')));
    expect(stating.filter((file) => !file.endsWith('.test.ts')).map((file) => relative(packages, file))).toEqual([
      join('options', 'src', 'supported-node.ts'),
    ]);
  });

  it.each(['create', 'cli'])('is refused by the command of @kctl/%s in one sentence', (name) => {
    const old = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.19.0" })';
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        ...['--import', join(packages, '..', 'scripts', 'typescript.mjs'), '--import', old],
        ...['--conditions=@kctl/source', join(packages, name, 'src', 'cli.ts')],
      ],
      { encoding: 'utf8' },
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^(kctl: )?@kctl requires Node\.js 22\.19 or newer; this is 20\.19\.0: install [^\n]+\n$/);
  });
});
