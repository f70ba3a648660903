// What a server takes part in: on the embedded one; with KCTL_TEST_SERVER=real on a real one.
import { defineKind } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { apply, applyStatus, extractApplied, isApplyConflict } from '@kctl/client';
import { isServed, serverHealth, serverVersion } from '@kctl/client-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEnvironment } from '../src/index.js';
import type { TestEnvironment } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment();
});
afterAll(() => environment.stop());

it('reads version and health of the server, and whether it serves a kind', async () => {
  const { transport } = environment.client;
  expect(await serverVersion(transport)).toMatchObject({ major: '1', gitVersion: expect.stringMatching(/^v1\./) });
  const health = await serverHealth(transport, 'readyz');
  expect([health.isHealthy, health.details]).toEqual([true, expect.stringMatching(/\[\+\]etcd ok/)]);
  const Gadget = defineKind({ group: 'gadgets.example.com', version: 'v1', kind: 'Gadget', scope: 'Namespaced' });
  const future = { ...Deployment, version: 'v9' };
  const served = async () => await Promise.all([Deployment, future, Gadget].map((kind) => isServed(transport, kind)));
  expect(await served()).toEqual([true, false, false]);
  await environment.installCrds([Gadget]);
  expect(await served()).toEqual([true, false, true]);
});

it('extracts what an owner has applied, and nothing of others', async () => {
  const { client } = environment;
  const namespace = await environment.createNamespace('extract');
  const key = { namespace, name: 'web' };
  const labels = { app: 'web' };
  const container = (name: string) => ({ name, image: name });
  const template = { metadata: { labels }, spec: { containers: [container('app')] } };
  const mine = { metadata: { ...key, labels }, spec: { replicas: 2, selector: { matchLabels: labels }, template } };
  await apply(client, Deployment, mine, { fieldOwner: 'me' });
  const theirs = {
    metadata: { ...key, annotations: { note: 'x' } },
    spec: { template: { spec: { containers: [{ name: 'sidecar', image: 's' }] } } },
  };
  await apply(client, Deployment, theirs as never, { fieldOwner: 'others' });
  const present = await client.get(Deployment, key);
  expect(extractApplied(Deployment, present, 'me')).toEqual(mine);
  expect(extractApplied(Deployment, present, 'others')).toEqual(theirs);
  const untold = extractApplied(present, 'me');
  expect([untold, untold.spec?.replicas]).toEqual([mine, 2]);
  await apply(client, Deployment, untold, { fieldOwner: 'me', dryRun: true });
  expect(() => extractApplied(present, '')).toThrow(/fieldOwner "" is not valid/);
  expect(extractApplied(Deployment, present, 'stranger')).toEqual({ metadata: key });
  const again = await apply(client, Deployment, extractApplied(Deployment, present, 'me'), { fieldOwner: 'me' });
  expect(again.metadata.resourceVersion).toBe(present.metadata.resourceVersion);
});

it('applies a status, whose fields have owners of their own', async () => {
  const { client } = environment;
  const key = { namespace: await environment.createNamespace('status'), name: 'web' };
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app' }] } };
  await apply(
    client,
    Deployment,
    { metadata: key, spec: { selector: { matchLabels: labels }, template } },
    { fieldOwner: 'me' },
  );
  const status = (replicas: number) => ({ metadata: key, status: { replicas } });
  const applied = await applyStatus(client, Deployment, status(3), { fieldOwner: 'me' });
  expect([applied.status?.replicas, applied.spec?.replicas]).toEqual([3, 1]);
  expect(extractApplied(Deployment, applied, 'me', { subresource: 'status' })).toEqual(status(3));
  const refused: unknown = await applyStatus(client, Deployment, status(4), { fieldOwner: 'others' }).catch(
    (error: unknown) => error,
  );
  expect(isApplyConflict(refused) && refused.conflicts.map(({ field, manager }) => [field, manager])).toEqual([
    ['.status.replicas', 'me'],
  ]);
});

it('refuses to extract from an object without managed fields', () => {
  const object = { metadata: { namespace: 'a', name: 'b', uid: '1', resourceVersion: '1' } };
  expect(() => extractApplied(ConfigMap, object as never, 'me')).toThrow(/has no managedFields: read it live/);
});
