import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConsoleLogger, createManager, webhookConfigurations } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { __Kind__ } from '../src/api/__kind-file__.ts';
import { add__Kind__Webhook } from '../src/webhooks/__kind-file__.ts';

test('the API server asks the webhook of each __Kind__', async () => {
  await using environment = await createEnvironment({ crds: [__Kind__.toYaml()] });
  const { client } = environment;
  const { host, port, certDir } = await environment.prepareWebhooks();
  const manager = await createManager({
    connection: environment.connection,
    logger: createConsoleLogger({ level: 'error' }),
    webhook: { host, port, certDir },
  });
  add__Kind__Webhook(manager);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  // Also after an assertion that fails: a manager that goes on keeps the process alive.
  await using _ended = {
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await running;
    },
  };
  await eventually(() => assert.equal(manager.webhookServer.port, port));
  await environment.installWebhooks(
    webhookConfigurations(manager.webhookServer.webhooks ?? [], {
      name: '__kind-file__',
      address: { service: { name: '__name__', namespace: 'default' } },
    }),
  );

  const namespace = await environment.createNamespace();
  const spec = { message: 'Hello' };
  const made = await client.create(__Kind__, { metadata: { namespace, name: 'hello' }, spec });
  assert.equal(made.metadata.labels?.['app.kubernetes.io/managed-by'], '__name__');
  const long = { namespace, name: 'a'.repeat(53) };
  await assert.rejects(client.create(__Kind__, { metadata: long, spec }), /must be no more than 52 characters/);
});
