// AGENTS.md is instructions that programs follow: what it names exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const page = read('AGENTS.md');
const code = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);
const manifest = JSON.parse(read('package.json')) as { scripts: Record<string, string>; packageManager: string };

const commands = code
  .filter((text) => /^(?:npm|pnpm|npx|node|cd) /.test(text))
  .map((text) => text.replace(/^cd (\S+) && /, ''));
it.each([...new Set(commands)])('%j can be run', (command) => {
  const [program, ...words] = command.split(' ');
  const named = words[0] === 'run' ? words[1] : words[0];
  if (program === 'node') expect(existsSync(join(root, words[0] ?? ''))).toBe(true);
  else if (program === 'npx') expect(command).toContain(manifest.packageManager);
  else if (named === 'oxlint' || named === 'vitest' || named === 'turbo')
    expect(existsSync(join(root, 'node_modules', '.bin', named))).toBe(true);
  else expect(Object.keys(manifest.scripts)).toContain(named);
});

const folders = readdirSync(root);
const paths = [...code, ...code.flatMap((text) => text.split(' '))].filter(
  (text) => folders.includes(text.split('/')[0] ?? '') && !text.includes('<'),
);
it.each([...new Set(paths)])('%j exists', (path) => {
  expect(existsSync(join(root, path.replace('/*', '')))).toBe(true);
});

it('the file of the test of one file exists', () => {
  const file = /cd (\S+) && pnpm vitest run (\S+)`/.exec(page);
  expect(existsSync(join(root, file?.[1] ?? '', file?.[2] ?? ''))).toBe(true);
});

it('the rules are those of the linter', () => {
  const rules = read('.oxlintrc.json');
  for (const name of ['setTimeout', '"property": "now"', '"property": "random"']) expect(rules).toContain(name);
  expect(rules).toMatch(/"max-lines": \[\s*"error",\s*\{\s*"max": 400/);
  expect(rules).toMatch(/"max-params": \[\s*"error",\s*\{\s*"max": 4\s*\}\s*\]/);
  expect(rules).toContain('no-restricted-exports');
  expect(read('tooling/tsconfig/base.json')).toContain('"isolatedDeclarations": true');
});

it('tests run on sources', () => {
  expect(read('tooling/vitest-config/index.js')).toContain('@kctl/source');
});

it('names exports that exist', () => {
  const runtime = read('packages/runtime/src/index.ts');
  for (const name of ['defineKind', 'mutableCopy']) expect(runtime).toContain(name);
  const testing = read('packages/testing/src/index.ts');
  for (const name of ['createEnvironment', 'eventually']) expect(testing).toContain(name);
  const kinds = JSON.parse(read('packages/apimachinery/package.json')) as { exports: Record<string, unknown> };
  expect(Object.keys(kinds.exports)).toContain('./kinds/apps/v1');
  const wait = JSON.parse(read('packages/wait/package.json')) as { exports: Record<string, unknown> };
  expect(Object.keys(wait.exports)).toContain('./testing');
});

it('says which Node is enough', () => {
  expect(read('scripts/bootstrap.mjs')).toContain('major < 20');
});
