import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

it('does the same by hand and with the builder', async () => {
  const scene = startExample(join(import.meta.dirname, '..', 'src', 'scene.ts'));
  expect(await scene.exited, scene.output).toBe(0);
  expect(scene.output.split('ConfigMap world is collected with its Greeting')).toHaveLength(3);
});
