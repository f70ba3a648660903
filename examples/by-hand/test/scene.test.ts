import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

// A scene brings its own server: once, not again beside a real one.
it.skipIf(process.env['KCTL_TEST_SERVER'] === 'real')('does the same by hand and with the builder', async () => {
  const scene = startExample(join(import.meta.dirname, '..', 'src', 'scene.ts'), { env: { KUBECONFIG: '' } });
  expect(await scene.exited, scene.output).toBe(0);
  expect(scene.output.split('ConfigMap world is collected with its Greeting')).toHaveLength(3);
});
