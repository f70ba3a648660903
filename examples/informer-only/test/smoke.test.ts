import { join } from 'node:path';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import { expect, it } from 'vitest';

const program = join(import.meta.dirname, '..', 'src', 'main.ts');

it('follows what happens to ConfigMaps', async () => {
  await using environment = await createEnvironment();
  const { client } = environment;
  const namespace = await environment.createNamespace('informer-only');
  const key = { namespace, name: 'a' };
  await client.create(ConfigMap, { metadata: key, data: { v: '1' } });
  const example = startExample(program, { env: { KUBECONFIG: environment.kubeconfigPath } });
  try {
    await example.waitFor(`found ${namespace}/a`);
    await example.waitFor('in sync: ');
    await client.create(ConfigMap, { metadata: { namespace, name: 'b' } });
    await example.waitFor(`added ${namespace}/b`);
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { v: '2' } } });
    await example.waitFor(`updated ${namespace}/a: {"v":"2"}`);
    await client.delete(ConfigMap, key);
    await example.waitFor(`deleted ${namespace}/a`);
  } finally {
    expect(await example.stop()).toBe(0);
  }
  expect(example.output).toContain('stopped');
});

it('says in one line why it cannot go on', async () => {
  const example = startExample(program, { env: { KUBECONFIG: '/does/not/exist' } });
  expect(await example.exited).toBe(1);
  expect(example.output.trim().split('\n')).toHaveLength(1);
  expect(example.output).toContain('/does/not/exist');
});
