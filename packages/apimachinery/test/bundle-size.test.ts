import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Bytes of what a bundler keeps of a program, minified. */
async function bytesOf(program: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(import.meta.dirname, '..'), loader: 'ts' },
    bundle: true,
    minify: true,
    treeShaking: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['@kctl/source'],
    logLevel: 'error', // it warns that the import of nothing is ignored
  });
  return outputFiles.reduce((sum, { contents }) => sum + contents.length, 0);
}

const from = (names: string): string =>
  `import { ${names} } from '@kctl/apimachinery/schemas/core/v1';\nconsole.log(${names});`;
const everything = "import * as all from '@kctl/apimachinery/schemas/core/v1';\nconsole.log(all);";

describe('a bundle with schemas of built-in types', () => {
  it('has the schemas that are embedded, and nothing else of their module', async () => {
    const [nothing, reference, template, all] = await Promise.all([
      bytesOf("import '@kctl/apimachinery/schemas/core/v1';\nconsole.log(1);"),
      bytesOf(from('ObjectReference')),
      bytesOf(from('PodTemplateSpec')),
      bytesOf(everything),
    ]);
    // 16, 819, 70,549 and 162,887 when this was written. The bounds are below the whole, which one side effect would pull in.
    expect({ nothing, reference, template, all }).toEqual({
      nothing: expect.toSatisfy((bytes: number) => bytes < 100),
      reference: expect.toSatisfy((bytes: number) => bytes > 500 && bytes < 1500),
      template: expect.toSatisfy((bytes: number) => bytes > 50_000 && bytes < 80_000),
      all: expect.toSatisfy((bytes: number) => bytes > 120_000),
    });
  });

  it('has one kind token where one is imported', async () => {
    const token = await bytesOf("import { Pod } from '@kctl/apimachinery/kinds/core/v1';\nconsole.log(Pod);");
    const all = await bytesOf("import * as all from '@kctl/apimachinery/kinds/core/v1';\nconsole.log(all);");
    expect(token).toBeLessThan(all / 2);
  });
});
