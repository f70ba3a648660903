import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNotFound } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { Application, applicationCrd } from '../src/application.js';
import { createOperator } from '../src/operator.js';

const namespace = 'default';

it('recovers by itself from a restart of the API server and catches up with what changed in between', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kctl-recovery-'));
  const environment = await createEnvironment({ server: 'embedded', crds: [applicationCrd], embedded: { dataDir } });
  const { client, connection } = environment;
  const server = environment.embedded!;
  const stop = new AbortController();
  const manager = await createOperator({ connection, logger: noopLogger });
  const running = manager.run(stop.signal);
  try {
    for (const name of ['kept', 'doomed'])
      await client.create(Application, { metadata: { namespace, name }, spec: { image: `${name}:1` } });
    await eventually(async () => expect((await client.list(Deployment, { namespace })).items).toHaveLength(2));

    await server.stop();
    await server.start();
    // The operator's watches are down and it is backing off: these changes happen behind its back.
    await eventually(() =>
      client.patch(Application, { namespace, name: 'kept' }, { type: 'merge', body: { spec: { image: 'kept:2' } } }),
    );
    await client.delete(Application, { namespace, name: 'doomed' });
    await client.delete(Service, { namespace, name: 'kept' });
    await client.create(Application, { metadata: { namespace, name: 'late' }, spec: { image: 'late:1' } });

    await eventually(
      async () => {
        const deployments = (await client.list(Deployment, { namespace })).items;
        const images = deployments.map(({ spec }) => spec?.template.spec?.containers[0]?.image).sort();
        expect(images).toEqual(['kept:2', 'late:1']);
        await client.get(Service, { namespace, name: 'kept' });
        const doomed = await client.get(Application, { namespace, name: 'doomed' }).catch((error: unknown) => error);
        expect(isNotFound(doomed)).toBe(true);
      },
      { timeoutMs: 60_000 },
    );
  } finally {
    stop.abort();
    await running;
    await environment.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
