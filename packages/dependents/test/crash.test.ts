import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Service } from '@kctl/apimachinery/kinds/core/v1';
import { intercept, mergePatch } from '@kctl/client';
import type { Client } from '@kctl/client';
import { createEnvironment } from '@kctl/testing';
import { afterAll, expect, it } from 'vitest';
import { WebApp, webAppChildren } from './web-app.js';

// Scenario 3 of the specification: the process ends at each write in turn, and another one goes on.
const environment = await createEnvironment({ crds: [WebApp] });
afterAll(() => environment.stop());

const kinds = [ConfigMap, StatefulSet, Deployment, Service] as const;
class Crash extends Error {}

/** A client whose process ends after a write arrived, and before its answer. No write follows. */
function crashing(at: number): { readonly client: Client; hasCrashed: () => boolean } {
  let writes = 0;
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    const number = writes++;
    if (number > at) throw new Crash('the process has ended');
    const answer = await send();
    if (number === at) throw new Crash('the process has ended');
    return answer;
  };
  const client = intercept(environment.client, (next) => ({
    patch: (kind, key, patch, options) => write(() => next.patch(kind, key, patch, options)),
    delete: (kind, key, options) => write(() => next.delete(kind, key, options)),
  }));
  return { client, hasCrashed: () => writes > at };
}

/** The children in a namespace: by kind and name their labels, annotations and desired fields, and their uids. */
async function childrenIn(namespace: string): Promise<{ readonly shape: object; readonly uids: Map<string, string> }> {
  const shape: Record<string, unknown> = {};
  const uids = new Map<string, string>();
  for (const kind of kinds)
    for (const object of (await environment.client.list(kind, { namespace })).items) {
      const name = `${kind.kind} ${object.metadata.name}`;
      uids.set(name, object.metadata.uid);
      const { labels = {}, annotations, ownerReferences, managedFields = [] } = object.metadata;
      shape[name] = {
        node: labels['kctl.dev/node'],
        id: labels['kctl.dev/id'],
        annotations,
        owners: ownerReferences?.length,
        managers: managedFields
          .map(({ manager, operation, fieldsV1 }) => `${manager} ${operation} ${JSON.stringify(fieldsV1)}`)
          .map((entry) => entry.replaceAll(ownerReferences?.[0]?.uid ?? '-', 'primary'))
          .toSorted(),
        data: 'data' in object ? object.data : undefined,
        replicas:
          'spec' in object && object.spec !== undefined && 'replicas' in object.spec ? object.spec.replicas : undefined,
      };
    }
  return { shape, uids };
}

/** Creation, a status of the database, an edit that deletes and replaces, and the runs that follow each. */
async function play(crashAt?: number): Promise<{
  readonly shape: object;
  readonly crashed: boolean;
}> {
  const namespace = await environment.createNamespace('crash');
  const key = { namespace, name: 'shop' };
  const crash = crashAt === undefined ? undefined : crashing(crashAt);
  let client: Client = crash?.client ?? environment.client;
  let children = webAppChildren();
  const run = async (): Promise<void> => {
    try {
      await children.reconcile(await environment.client.get(WebApp, key), { client });
    } catch (error) {
      if (crash?.hasCrashed() !== true || client === environment.client) throw error;
      const before = await childrenIn(namespace);
      // Another process, which knows nothing of the first.
      client = environment.client;
      children = webAppChildren();
      await run();
      const after = await childrenIn(namespace);
      for (const [name, uid] of before.uids) if (after.uids.has(name)) expect(after.uids.get(name), name).toBe(uid);
    }
  };
  const hosts = ['a', 'b'].map((id) => ({ id, host: `${id}.example` }));
  const spec = { image: 'web:1', database: true, settings: { a: '1' }, hosts };
  await environment.client.create(WebApp, { metadata: key, spec });
  await run();
  const status = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 1 };
  const patch = mergePatch({ status });
  await environment.client.status(StatefulSet).patch({ namespace, name: 'shop-db' }, patch);
  await run();
  const [first] = hosts;
  await environment.client.patch(
    WebApp,
    key,
    mergePatch({ spec: { image: 'web:2', database: false, settings: { a: '2' }, hosts: [first] } }),
  );
  await run();
  await run();
  return { shape: (await childrenIn(namespace)).shape, crashed: crash?.hasCrashed() === true };
}

it('3: the same objects, with their uids, whichever write the process ends after', async () => {
  const undisturbed = await play();
  expect(Object.keys(undisturbed.shape)).toEqual([
    'ConfigMap shop-config',
    'Deployment shop-web',
    'Service shop-routes-a',
  ]);
  let at = 0;
  for (; ; at++) {
    const { shape, crashed } = await play(at);
    if (!crashed) break;
    expect(shape, `the process ended after write ${at}`).toEqual(undisturbed.shape);
  }
  expect(at).toBeGreaterThan(8);
}, 120_000);
