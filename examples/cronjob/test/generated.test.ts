import { join } from 'node:path';
import { runKctl } from '@kctl/cli';
import { expect, it } from 'vitest';

it('has in deploy/ what kctl generates of it', async () => {
  let text = '';
  const write = (part: string): void => void (text += part);
  const cwd = join(import.meta.dirname, '..');
  const io = { cwd, environment: {}, out: write, err: write, signal: new AbortController().signal };
  expect(await runKctl(io, ['generate', 'manifests', '--check']), text).toBe(0);
});
