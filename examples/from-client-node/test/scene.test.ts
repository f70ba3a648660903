import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

// A scene brings its own server: once, not again beside a real one.
it.skipIf(process.env['KCTL_TEST_SERVER'] === 'real')('plays its scene without a cluster, to the end', async () => {
  const scene = startExample(join(import.meta.dirname, '..', 'src', 'scene.ts'), { env: { KUBECONFIG: '' } });
  expect(await scene.exited, scene.output).toBe(0);
  expect(scene.output).toContain('contact: tea@example.com');
  expect(scene.output).toContain('contact: rice@example.com');
  expect(scene.output).toContain('every process has stopped');
});
