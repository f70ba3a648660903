import { readFileSync } from 'node:fs';
import { defineConfig } from 'tsup';

/**
 * The one build recipe. Entry points are read from the package's `exports`, so that what is published and what is
 * built cannot differ. Declarations come from `tsc -b` (declaration maps, project references), not from tsup.
 */
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

const sources = [];
for (const target of Object.values(manifest.exports ?? {})) {
  if (typeof target === 'object' && target !== null && '@kctl/source' in target) sources.push(target['@kctl/source']);
}
for (const file of Object.values(manifest.bin ?? {})) sources.push(String(file).replace(/^\.\/dist\//, './src/').replace(/\.js$/, '.ts'));

/** `./src/a/b.ts` → `{ 'a/b': './src/a/b.ts' }`: keeps the folder structure of `src` in `dist`. */
const entry = Object.fromEntries(sources.map((file) => [file.replace(/^\.\/src\//, '').replace(/\.ts$/, ''), file]));

export const recipe = defineConfig({
  entry,
  format: ['esm'],
  target: 'node22',
  platform: 'node',
  sourcemap: true,
  clean: true,
  dts: false,
  splitting: true,
  treeshake: false,
  // `node:fs` stays `node:fs`: bundlers, Deno and Workers tell built-in modules apart by the prefix.
  removeNodeProtocol: false,
  // What is CommonJS on purpose stays a file of its own.
  loader: { '.cjs': 'copy' },
  silent: true,
});
