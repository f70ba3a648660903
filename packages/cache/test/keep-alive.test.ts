import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

describe('the process of a cache', () => {
  it('goes on while the cache has no kind, or waits for a server that is down, and ends with it', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      join(root, 'scripts/typescript.mjs'),
      '--conditions=@kctl/source',
      join(import.meta.dirname, 'alone-program.ts'),
    ]);
    expect(stdout).toBe('ended after 3 attempts\n');
  });
});
