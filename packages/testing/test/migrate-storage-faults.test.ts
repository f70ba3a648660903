// Something goes wrong at each request of a storage migration: nothing is lost, and storedVersions tells the truth.
import { compareResourceVersions, defineKind, mutableCopy, StatusError, type KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { intercept, type Client } from '@kctl/client';
import { migrateStorage } from '@kctl/client/operations';
import { sleep } from '@kctl/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEnvironment, eventually, type TestEnvironment } from '../src/index.js';

interface Wheel extends KubeObject {
  spec?: { size?: number };
}
const names = { group: 'faults.kctl.dev', kind: 'Wheel', plural: 'wheels', scope: 'Namespaced' } as const;
const Alpha = defineKind<Wheel>()({ ...names, version: 'v1alpha1' });
const name = 'wheels.faults.kctl.dev';
const isReal = process.env['KCTL_TEST_SERVER'] === 'real';
// The real server takes a moment to follow a definition.
const settleMs = isReal ? 400 : 0;
const sizes = [0, 1, 2];

let environment: TestEnvironment;
let client: Client;
let namespace: string;
/** The writes of the definition since which objects are stored in a version, the last first. */
const switches: { readonly since: string; readonly stored: string }[] = [{ since: '0', stored: 'v1alpha1' }];
let round = 0;

const version = (versionName: string, storage: boolean) => ({
  name: versionName,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
    },
  },
});

async function storeIn(stored: 'v1' | 'v1alpha1'): Promise<void> {
  const definition = mutableCopy(await client.get(CustomResourceDefinition, { name }));
  definition.spec.versions = [version('v1alpha1', stored === 'v1alpha1'), version('v1', stored === 'v1')];
  const { metadata } = await client.update(CustomResourceDefinition, definition);
  switches.unshift({ since: metadata.resourceVersion, stored });
  if (isReal) await sleep(settleMs);
}

async function writeAll(): Promise<void> {
  for (const size of sizes) {
    const labels = { round: String(round) };
    await client.patch(Alpha, { namespace, name: `wheel-${size}` }, { type: 'merge', body: { metadata: { labels } } });
  }
}

/** Objects stored in v1alpha1, and v1 the storage version. */
async function reset(): Promise<void> {
  round += 1;
  await storeIn('v1alpha1');
  await writeAll();
  await storeIn('v1');
}

/** Every object is there with its content; a version that `storedVersions` does not name has no object. */
async function judge(): Promise<readonly string[]> {
  const { status } = await client.get(CustomResourceDefinition, { name });
  const { items } = await client.list(Alpha, { namespace });
  expect(items.map(({ spec }) => spec?.size)).toEqual(sizes);
  const named = status?.storedVersions ?? [];
  const storedIn = ({ metadata }: (typeof items)[number]): string =>
    switches.find(({ since }) => compareResourceVersions(metadata.resourceVersion, since) === 'newer')?.stored ?? '';
  expect(named).toEqual(expect.arrayContaining([...new Set(items.map(storedIn))]));
  return named;
}

type Fault = (send: () => Promise<unknown>, verb: string) => Promise<unknown>;

/** The client with a fault in place of the request of an index; `after` of all that follow. */
function faulty(at: number, fault: Fault, after?: Fault): { client: Client; sent: () => number } {
  let index = 0;
  const pass = async <T>(verb: string, send: () => Promise<T>): Promise<T> => {
    const now = index++;
    const chosen = now === at ? fault : now > at ? after : undefined;
    if (chosen === undefined) return await send();
    let result: { value: T } | undefined;
    await chosen(async () => {
      result = { value: await send() };
    }, verb);
    return result === undefined ? await send() : result.value;
  };
  const wrapped = intercept(client, (next) => ({
    get: async (kind, key, options) => await pass('get', () => next.get(kind, key, options)),
    list: async (kind, options) => await pass('list', () => next.list(kind, options)),
    patch: async (kind, key, patch, options) => await pass('patch', () => next.patch(kind, key, patch, options)),
  }));
  const status: Client['status'] = (kind) => {
    const inner = client.status(kind);
    return { ...inner, update: (object, options) => pass('status', () => inner.update(object, options)) };
  };
  return { client: { ...wrapped, status }, sent: () => index };
}

const refusal = (code: number, reason: 'Conflict' | 'NotFound') => async (): Promise<never> => {
  throw new StatusError({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'no' });
};
const gone = async (): Promise<never> => {
  throw new Error('the process is gone');
};

beforeAll(async () => {
  environment = await createEnvironment({ controllerManager: false });
  client = environment.client;
  namespace = await environment.createNamespace('faults');
  await environment.installCrds([
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: names.group,
        scope: names.scope,
        names: { kind: names.kind, plural: names.plural },
        versions: [version('v1alpha1', true), version('v1', false)],
      },
    },
  ]);
  await eventually(() => client.list(Alpha, { namespace }));
  for (const size of sizes)
    await client.create(Alpha, { metadata: { namespace, name: `wheel-${size}` }, spec: { size } });
});
afterAll(() => environment.stop());

const options = { settleMs, pageSize: 2, concurrency: 1 };

describe('a migration whose request', () => {
  // get, two lists with three writes between them, get, the status.
  const requests = 8;

  it('fails nowhere sends what the others count', async () => {
    await reset();
    const { client: counted, sent } = faulty(-1, gone);
    expect(await migrateStorage(counted, name, options)).toEqual({
      storageVersion: 'v1',
      migrated: 3,
      pruned: ['v1alpha1'],
    });
    expect(sent()).toBe(requests);
    expect(await judge()).toEqual(['v1']);
  });

  const faults: readonly [what: string, fault: Fault, after?: Fault][] = [
    ['is refused as a conflict', refusal(409, 'Conflict')],
    ['is answered 404', refusal(404, 'NotFound')],
    ['is done, and the answer is lost', async (send) => void (await send(), await gone())],
    ['is never sent, nor any after it', gone, gone],
    [
      'comes after a change of the storage version and back',
      async (send) => {
        await storeIn('v1alpha1');
        await writeAll();
        await storeIn('v1');
        await send();
      },
    ],
    [
      'comes after a return to the old storage version',
      async (send) => {
        await storeIn('v1alpha1');
        await send();
      },
    ],
    [
      'comes after others have written every object',
      async (send) => {
        round += 1;
        await writeAll();
        await send();
      },
    ],
  ];
  const indexes = Array.from({ length: requests }, (_request, index) => index).filter(
    (index) => !isReal || index % 3 === 2,
  );
  it.each(faults)('%s loses nothing', async (_what, fault, after) => {
    for (const index of indexes) {
      await reset();
      const outcome = await migrateStorage(faulty(index, fault, after).client, name, options).then(
        ({ pruned }) => pruned,
        () => 'failed' as const,
      );
      const stored = await judge();
      // What was said to be pruned is; an answer that is lost may have been the one that pruned.
      if (outcome !== 'failed') expect([index, stored.length]).toEqual([index, 1]);
      if (stored.length === 1) continue;
      await migrateStorage(client, name, options);
      expect(await judge()).toHaveLength(1);
    }
  });

  it('is aborted loses nothing', async () => {
    for (const index of indexes) {
      await reset();
      const stop = new AbortController();
      const abort: Fault = async (send) => {
        stop.abort(new Error('stopped'));
        await send();
      };
      const { client: aborted } = faulty(index, abort);
      await expect(migrateStorage(aborted, name, { ...options, signal: stop.signal })).rejects.toThrow('stopped');
      if ((await judge()).length === 1) continue;
      await migrateStorage(client, name, options);
      expect(await judge()).toEqual(['v1']);
    }
  });
});
