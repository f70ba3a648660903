import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

describe('the process of a controller', () => {
  it('goes on while the controller has nothing to do, and ends with it', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      join(root, 'scripts/typescript.mjs'),
      '--conditions=@kctl/source',
      join(import.meta.dirname, 'alone-program.ts'),
    ]);
    expect(stdout).toBe('ended\n');
  });
});
