import assert from 'node:assert/strict';
import { test } from 'node:test';
import { __ChildImport__ } from '@kctl/apimachinery/kinds/core/v1';
import { createConsoleLogger, createManager } from '@kctl/runtime';
import { createEnvironment, createOperatorAccess, eventually } from '@kctl/testing';
import { __Kind__ } from '../src/api/__kind-file__.ts';
import { add__Kind__Controller } from '../src/controllers/__kind-file__.ts';

test('a __Kind__ gets its ConfigMap, with the rights that are generated and no more', async () => {
  await using environment = await createEnvironment({
    crds: [__Kind__.toYaml()],
    embedded: { authorization: 'RBAC' },
  });
  const { client } = environment;
  const namespace = await environment.createNamespace();
  const access = createOperatorAccess(environment, { name: '__name__' });
  const manager = await createManager({
    connection: access.connection,
    logger: createConsoleLogger({ level: 'error' }),
  });
  add__Kind__Controller(manager);
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
  await client.create(__Kind__, { metadata: key, spec: { message: 'Hello' } });
  await eventually(async () => assert.equal((await client.get(__Child__, key)).data?.['message'], 'Hello'));
  await eventually(async () => assert.equal((await client.get(__Kind__, key)).status?.published, 'Hello'));
  await eventually(() => assert.equal(access.report(), ''));

  // A reconcile that finds everything as it should be sends no request.
  const reconciles = async (): Promise<number> => {
    const { body } = await manager.metrics.export();
    return Number(/controller_runtime_reconcile_total\{[^}]*result="success"\} (\d+)/.exec(body)?.[1] ?? 0);
  };
  await client.patch(__Kind__, key, { type: 'merge', body: { metadata: { labels: { step: 'settled' } } } });
  await eventually(async () => assert.ok((await reconciles()) > 1));
  const before = await reconciles();
  const { requests } = access.recorder;
  await client.patch(__Kind__, key, { type: 'merge', body: { metadata: { labels: { touched: 'true' } } } });
  await eventually(async () => assert.ok((await reconciles()) > before));
  assert.deepEqual(access.recorder.last(requests), []);
  assert.equal(access.report(), '');
});
