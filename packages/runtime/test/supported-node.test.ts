// Built packages refuse an old Node at import, because tree-shaking must not drop the check.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

  it('is the same for the packages that have the check', () => {
    const checks = ['options', 'create'].map((name) => {
      const source = readFileSync(join(packages, name, 'src', 'supported-node.ts'), 'utf8');
      return [/const oldest = .*/.exec(source)?.[0], /return `@kctl.*/.exec(source)?.[0]];
    });
    expect(checks[1]).toEqual(checks[0]);
  });
});
