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
  [
    {
      dependencies: { '@kctl/a': 'workspace:*', b: '^1.0.0' },
      devDependencies: { c: '^1.0.0', d: '^1.0.0', vitest: '^1.0.0' },
    },
    [],
  ],
  [
    { dependencies: { b: '^1.0.0' }, devDependencies: { '@kctl/a': 'workspace:^', c: '^1.0.0', d: '^1.0.0' } },
    ['@kctl/a is imported by sources'],
  ],
  [
    { dependencies: { '@kctl/a': 'workspace:*', b: '^1.0.0', c: '^1.0.0' }, devDependencies: { d: '^1.0.0' } },
    ['c is imported by tests alone'],
  ],
  [
    {
      dependencies: { '@kctl/a': 'workspace:*', b: '^1.0.0', e: '^1.0.0' },
      devDependencies: { c: '^1.0.0', d: '^1.0.0' },
    },
    ['e is a dependency and never'],
  ],
  [
    { dependencies: { '@kctl/a': 'workspace:*', b: '^1.0.0' }, devDependencies: { c: '^1.0.0' } },
    ['d is imported by tests and not declared'],
  ],
  [
    {
      dependencies: { '@kctl/a': 'workspace:*', b: '^1.0.0' },
      devDependencies: { c: '^1.0.0', d: '^1.0.0', f: '^1.0.0' },
    },
    ['f is a devDependency and never imported'],
  ],
  [
    { dependencies: { '@kctl/a': 'workspace:*', b: '1.0.0' }, devDependencies: { c: '1.0.0', d: '1.0.0' } },
    ['b is a dependency of exactly one version'],
  ],
])('%o', (manifest, expected) => {
  const problems = problemsOf(manifest);
  for (const text of expected) expect(problems.join('\n')).toContain(text);
  if (expected.length === 0) expect(problems).toEqual([]);
});
