// What an entry point exports is documented, or it belongs to an internal entry (designs/020-internal-entries.md), which
// nothing that users read or copy imports.
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const files = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: (name) => /(?:^|\/)(?:node_modules|api|\.vitepress)$/.test(name) });
const pages = files('*.md', 'packages/*/README.md', 'examples/*/README.md', 'docs/**/*.md');
const code = files('examples/*/{src,test}/**/*.ts', 'packages/create/{template,additions,built-in}/**/*.ts');

/** The values of an entry point. */
function valuesOf(source: string): string[] {
  const lists = [...source.replaceAll(/\/\*[\s\S]*?\*\//g, '').matchAll(/^export \{([^}]*)\}/gm)];
  return lists
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(' as ').at(-1) ?? '');
}

/** The guard of a class of errors, whose documentation is the class's as well. */
const guardOf = (name: string): string => `is${name.replace(/Error$/, '')}`;

/** Entries that are neither internal, generated nor a program of a thread. */
const entries = readdirSync(join(root, 'packages')).flatMap((name) => {
  const { exports } = JSON.parse(read(`packages/${name}/package.json`)) as { exports: Record<string, unknown> };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'object' &&
    target !== null &&
    '@kctl/source' in target &&
    !/^\.\/(?:internal|kinds|schemas)/.test(path)
      ? [{ entry: `@kctl/${name}${path.slice(1)}`, source: join('packages', name, String(target['@kctl/source'])) }]
      : [],
  );
});

it('each exported value is in a README, on a page or in an example', () => {
  const words = new Set([...pages, ...code].flatMap((file) => read(file).match(/[\w$]+/g) ?? []));
  const missing = entries.flatMap(({ entry, source }) =>
    valuesOf(read(source))
      .filter((name) => !words.has(name) && !words.has(`is${name}`) && !words.has(guardOf(name)))
      .map((name) => `${entry}: ${name}`),
  );
  expect(missing, 'document these, or move them to ./internal').toEqual([]);
});

it('what users read and copy imports no internal entry', () => {
  const importing = [...pages, ...code].filter((file) => /from '@kctl\/[\w-]+\/internal/.test(read(file)));
  expect(importing).toEqual([]);
});
