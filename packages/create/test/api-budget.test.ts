// A reconcile that finds everything as it should be sends no request: the test of a new project says so, and fails otherwise.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createProject } from '../src/index.js';

const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');
const cache = join(import.meta.dirname, '..', '.cache');
let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('is kept by the project as it is made, and named by its test where it is not', () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'budget-'));
  createProject({ folder, name: 'shop', group: 'example.com', kind: 'Greeting' });
  const test = (): { status: number | null; output: string } => {
    // Node takes this for a test within the test of another otherwise.
    const { NODE_TEST_CONTEXT: _context, ...environment } = process.env;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', typescript, '--conditions=@kctl/source', '--test', join('test', 'greeting.test.ts')],
      { cwd: folder, env: environment, encoding: 'utf8' },
    );
    return { status, output: stdout + stderr };
  };
  const kept = test();
  expect(kept.status, kept.output).toBe(0);
  const file = join(folder, 'src', 'controllers', 'greeting.ts');
  const sends = readFileSync(file, 'utf8').replace(
    '      await apply(',
    '      await manager.apiReader.get(ConfigMap, { namespace: metadata.namespace, name: metadata.name }).catch(() => undefined);\n      await apply(',
  );
  writeFileSync(file, sends);
  const exceeded = test();
  expect(exceeded.status).not.toBe(0);
  expect(exceeded.output).toContain('/configmaps/hello');
}, 120_000);
