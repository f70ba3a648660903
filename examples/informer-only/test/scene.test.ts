import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

it('plays its scene without a cluster, to the end', async () => {
  const scene = startExample(join(import.meta.dirname, '..', 'src', 'scene.ts'));
  expect(await scene.exited, scene.output).toBe(0);
  expect(scene.output).toContain('the copy is equal to the server again');
  expect(scene.output).toContain('every process has stopped');
});
