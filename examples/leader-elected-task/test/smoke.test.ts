import { join } from 'node:path';
import { createEnvironment } from '@kctl/testing';
import { startExample, type RunningExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

const program = join(import.meta.dirname, '..', 'src', 'main.ts');

it('runs in one process at a time, and goes on in the other one when the leader is killed or stops', async () => {
  await using environment = await createEnvironment();
  const namespace = await environment.createNamespace('elected');
  const start = (): RunningExample =>
    startExample(program, {
      env: {
        KUBECONFIG: environment.kubeconfigPath,
        POD_NAMESPACE: namespace,
        INTERVAL_MS: '50',
        // Long enough that a busy machine does not lose the lease; the killed leader's has to run out.
        LEASE_DURATION_MS: '6000',
        RENEW_DEADLINE_MS: '5000',
        RETRY_PERIOD_MS: '200',
      },
    });
  const first = start();
  await first.waitFor(' run 3');
  const second = start();
  await second.waitFor('the leader is ');
  expect(second.output).not.toContain(' run 1');

  await first.stop('SIGKILL');
  await second.waitFor(' run 3');

  const third = start();
  await third.waitFor('the leader is ');
  expect(await second.stop()).toBe(0);
  expect(second.output).toContain('stopped leading');
  await third.waitFor(' run 3');
  expect(await third.stop()).toBe(0);
});
