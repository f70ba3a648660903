import assert from 'node:assert/strict';
import { test } from 'node:test';
import { __Kind__ } from '@kctl/apimachinery/kinds/__Module__';
import { createConsoleLogger, createManager } from '@kctl/runtime';
import { createEnvironment, createOperatorAccess, eventually } from '@kctl/testing';
import { add__Kind__Controller } from '../src/controllers/__kind-file__.ts';

/** The fields of a valid __Kind__. */
const sample: Omit<__Kind__, 'metadata'> = __Sample__;

test('a labelled __Kind__ gets its greeting, with the rights that are generated and no more', async () => {
  await using environment = await createEnvironment({ embedded: { authorization: 'RBAC' } });
  const { client } = environment;
  const namespace = await environment.createNamespace(); //?namespaced
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

  const key = __Key__;
  const label = async (name: string, value: string | null): Promise<void> => {
    await client.patch(__Kind__, key, { type: 'merge', body: { metadata: { labels: { [name]: value } } } });
  };
  const greeting = async (): Promise<string | undefined> =>
    (await client.get(__Kind__, key)).metadata.annotations?.['__group__/greeting'];
  await client.create(__Kind__, { ...sample, metadata: { ...key, labels: { '__group__/greet': 'World' } } });
  await eventually(async () => assert.equal(await greeting(), 'Hello World'));
  await label('__group__/greet', null);
  await eventually(async () => assert.equal(await greeting(), undefined));
  await eventually(() => assert.equal(access.report(), ''));

  // A reconcile that finds everything as it should be sends no request.
  const reconciles = async (): Promise<number> => {
    const { body } = await manager.metrics.export();
    return Number(/controller_runtime_reconcile_total\{[^}]*result="success"\} (\d+)/.exec(body)?.[1] ?? 0);
  };
  const settled = await reconciles();
  await label('step', 'settled');
  await eventually(async () => assert.ok((await reconciles()) > settled));
  const before = await reconciles();
  const { requests } = access.recorder;
  await label('touched', 'true');
  await eventually(async () => assert.ok((await reconciles()) > before));
  assert.deepEqual(access.recorder.last(requests), []);
  assert.equal(access.report(), '');
});
