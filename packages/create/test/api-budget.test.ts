// A reconcile that finds everything as it should be sends no request: the test of a new project says so, and fails where
// one does. It ends in either case.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createProject } from '../src/index.js';

const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(import.meta.dirname, '..', '.cache');
let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('is kept by a new project, and its test names the request that exceeds it', () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'budget-'));
  createProject({ folder, name: 'shop', group: 'example.com', kind: 'Greeting' });
  const file = join(folder, 'src', 'controllers', 'greeting.ts');
  const written = readFileSync(file, 'utf8');
  const read = 'await manager.apiReader.get(ConfigMap, { namespace: metadata.namespace, name: metadata.name })';
  writeFileSync(
    file,
    written.replace('      await apply(', `      ${read}.catch(() => undefined);\n      await apply(`),
  );
  // Node takes a test for a part of that which has started it.
  const { NODE_TEST_CONTEXT: _context, ...environment } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      ...['--import', join(root, 'scripts', 'typescript.mjs'), '--conditions=@kctl/source'],
      join('test', 'greeting.test.ts'),
    ],
    { cwd: folder, env: environment, encoding: 'utf8', timeout: 300_000, killSignal: 'SIGKILL' },
  );
  expect(status, stdout).toBe(1);
  expect(stdout).toMatch(/path: '.*\/configmaps\/hello'/);
});
