// A new package, page or example is covered by the checks without being entered anywhere but here and in the map.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const readJson = (file: string): unknown => JSON.parse(read(file));
const { firstProgram }: { firstProgram(name: string): { install: string[]; program: string; prints: RegExp } } =
  await import(join(root, 'e2e', 'packages', 'src', 'readme.mjs'));
const { sections }: { sections: { items: { link: string }[] }[] } = await import(
  join(root, 'docs', '.vitepress', 'pages.mjs')
);

const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);
const links = sections.flatMap(({ items }) => items.map(({ link }) => link));

describe.each(packages)('package %s', (name) => {
  it('opens with an install line and a program, and says what it prints', () => {
    const { install, program, prints } = firstProgram(name);
    expect(install[0]).toBe(`@kctl/${name}`);
    expect(program).not.toBe('');
    expect(prints).toBeInstanceOf(RegExp);
  });

  it('is seen by the check of code blocks, and has its page in the side bar', () => {
    const { dependencies } = readJson('tooling/doc-snippets/package.json') as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).toContain(`@kctl/${name}`);
    expect(links).toContain(`/packages/${name}`);
  });

  it('says to users when it was changed: a changeset or a changelog names it', () => {
    const changesets = globSync('.changeset/*.md', { cwd: root }).map(read).join('\n');
    const isNamed = changesets.includes(`'@kctl/${name}'`) || changesets.includes(`"@kctl/${name}"`);
    expect(isNamed || existsSync(join(root, 'packages', name, 'CHANGELOG.md'))).toBe(true);
  });
});

it('every page is reached from the side bar', () => {
  const pages = globSync('docs/**/*.md', {
    cwd: root,
    exclude: (path) => /node_modules|docs\/(?:packages|api|\.vitepress|public)/.test(path),
  }).map((file) => `/${file.slice('docs/'.length, -'.md'.length)}`);
  const missing = pages.filter((page) => page !== '/index' && !links.includes(page));
  expect(missing).toEqual([]);
  expect(pages.length).toBeGreaterThan(30);
});

it('every example has a scene, a row in the README and tests', () => {
  const examples = readdirSync(join(root, 'examples')).filter((name) =>
    existsSync(join(root, 'examples', name, 'package.json')),
  );
  for (const name of examples) {
    expect(
      // Of a project as npm create makes it, the scene is its `npm run dev`.
      ['src/scene.ts', 'src/demo.ts', '.kctl/scaffold.json'].some((file) =>
        existsSync(join(root, 'examples', name, file)),
      ),
      name,
    ).toBe(true);
    expect(read('README.md'), name).toContain(`(examples/${name})`);
    expect(globSync(`examples/${name}/test/*.test.ts`, { cwd: root }).length, name).toBeGreaterThan(0);
  }
});
