// Declared dependencies equal imports: each way of differing is found.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const { dependencyProblems }: { dependencyProblems(folder: string): string[] } = await import(
  join(import.meta.dirname, '..', '..', '..', 'scripts', 'check-dependencies.mjs')
);

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kctl-dependencies-'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(
    join(folder, 'src', 'index.ts'),
    "import type { A } from '@kctl/a';\nexport { b } from 'b/deep';\nimport 'node:fs';\n",
  );
  writeFileSync(join(folder, 'src', 'index.test.ts'), "import { c } from 'c';\nconst d = await import('d');\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

const problemsOf = (manifest: object): string[] => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@kctl/x', ...manifest }));
  return dependencyProblems(folder);
};

it.each([
  [{ dependencies: { '@kctl/a': '', b: '' }, devDependencies: { c: '', d: '', vitest: '' } }, []],
  [{ dependencies: { b: '' }, devDependencies: { '@kctl/a': '', c: '', d: '' } }, ['@kctl/a is imported by sources']],
  [{ dependencies: { '@kctl/a': '', b: '', c: '' }, devDependencies: { d: '' } }, ['c is imported by tests alone']],
  [
    { dependencies: { '@kctl/a': '', b: '', e: '' }, devDependencies: { c: '', d: '' } },
    ['e is a dependency and never'],
  ],
  [{ dependencies: { '@kctl/a': '', b: '' }, devDependencies: { c: '' } }, ['d is imported by tests and not declared']],
  [
    { dependencies: { '@kctl/a': '', b: '' }, devDependencies: { c: '', d: '', f: '' } },
    ['f is a devDependency and never imported'],
  ],
])('%o', (manifest, expected) => {
  const problems = problemsOf(manifest);
  for (const text of expected) expect(problems.join('\n')).toContain(text);
  if (expected.length === 0) expect(problems).toEqual([]);
});
