import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createConsoleLogger, createManager } from '@kctl/runtime';
import { createEnvironment, createOperatorAccess, eventually } from '@kctl/testing';
import { Greeting } from '../src/api/greeting.ts';
import { addGreetingController } from '../src/controllers/greeting.ts';

test('a Greeting gets its ConfigMap, with the rights that are generated and no more', async () => {
  await using environment = await createEnvironment({
    crds: [Greeting.toYaml()],
    embedded: { authorization: 'RBAC' },
  });
  const { client } = environment;
  const namespace = await environment.createNamespace();
  const access = createOperatorAccess(environment, { name: 'greeting' });
  const manager = await createManager({
    connection: access.connection,
    logger: createConsoleLogger({ level: 'error' }),
  });
  addGreetingController(manager);
  await access.grant(manager.accessNeeds());
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  // Also after an assertion that fails: a manager that goes on keeps the process alive.
  await using _ended = {
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await running;
    },
  };

  const key = { namespace, name: 'hello' };
  await client.create(Greeting, { metadata: key, spec: { message: 'Hello' } });
  await eventually(async () => assert.equal((await client.get(ConfigMap, key)).data?.['message'], 'Hello'));
  await eventually(async () => assert.equal((await client.get(Greeting, key)).status?.published, 'Hello'));
  await eventually(() => assert.equal(access.report(), ''));

  // A reconcile that finds everything as it should be sends no request.
  const reconciles = async (): Promise<number> => {
    const { body } = await manager.metrics.export();
    return Number(/controller_runtime_reconcile_total\{[^}]*result="success"\} (\d+)/.exec(body)?.[1] ?? 0);
  };
  await client.patch(Greeting, key, { type: 'merge', body: { metadata: { labels: { step: 'settled' } } } });
  await eventually(async () => assert.ok((await reconciles()) > 1));
  const before = await reconciles();
  const { requests } = access.recorder;
  await client.patch(Greeting, key, { type: 'merge', body: { metadata: { labels: { touched: 'true' } } } });
  await eventually(async () => assert.ok((await reconciles()) > before));
  assert.deepEqual(access.recorder.last(requests), []);
  assert.equal(access.report(), '');
});
