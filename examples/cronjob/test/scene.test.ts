import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

// A scene brings its own server: once, not again beside a real one.
it.skipIf(process.env['KCTL_TEST_SERVER'] === 'real')('plays its scene without a cluster, to the end', async () => {
  const scene = startExample(join(import.meta.dirname, '..', 'src', 'scene.ts'), { env: { KUBECONFIG: '' } });
  expect(await scene.exited, scene.output).toBe(0);
  expect(scene.output).toContain(
    '"failedJobsHistoryLimit":1,"successfulJobsHistoryLimit":3,"suspend":true,"schedule":"* * * * *"',
  );
  expect(scene.output).toMatch(/denied the request: .*spec\.schedule: Invalid value: "61 \* \* \* \*"/);
  expect(scene.output).toMatch(/Job hello-\d+ is gone/);
  expect(scene.output).toContain('every process has stopped');
});
