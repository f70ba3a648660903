// The recipes of the documentation run: all of them in one process, each on a server of its own where it needs one.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

it('prints what the documentation says, forty times and more', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', './scripts/typescript.mjs', '--conditions=@kctl/source', 'scripts/docs/recipes.mjs'],
    { cwd: root, encoding: 'utf8', timeout: 300_000 },
  );
  expect(stderr).toBe('');
  expect(Number(/^(\d+) recipes run/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(40);
  expect(status).toBe(0);
});
