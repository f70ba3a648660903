import { StatusError } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { expect, it } from 'vitest';
import type { Client } from '../src/index.js';
import { drain, migrateStorage, ownersOf, waitForRollout } from '../src/operations/index.js';

const key = { namespace: 'shop', name: 'web' };
const unasked = (): Promise<never> => Promise.reject(new Error('not asked for'));
const nothing = { get: unasked, list: unasked, patch: unasked } as unknown as Client;
const onProgress = true as never;

it.each([
  ['drain', () => drain(nothing, 'node-1', { onProgress })],
  ['migrateStorage', () => migrateStorage(nothing, 'sites.example.com', { onProgress })],
  ['waitForRollout', () => waitForRollout(nothing, Deployment, key, { onProgress })],
])('%s refuses a hook that is none before anything is asked', async (what, call) => {
  await expect(call()).rejects.toThrow(`${what}: onProgress is a value of type boolean: expected a function`);
});

it('ownersOf ends with its signal, also while a kind is looked for', async () => {
  const controller = new AbortController();
  const site = { apiVersion: 'example.com/v1', kind: 'Site', name: 's', uid: 's', controller: true };
  const resolver = { kindFor: () => new Promise<never>(() => undefined) };
  const owned = { metadata: { ownerReferences: [site] } };
  const owners = ownersOf(nothing, owned, { resolver, signal: controller.signal });
  controller.abort(new Error('no longer wanted'));
  await expect(owners).rejects.toThrow('no longer wanted');
});

it('migrateStorage gives up on a conflict that stays', async () => {
  let writes = 0;
  const definition = {
    metadata: { name: 'sites.example.com', uid: 'u', generation: 1, resourceVersion: '7' },
    spec: {
      group: 'example.com',
      names: { kind: 'Site', plural: 'sites' },
      scope: 'Cluster',
      versions: [{ name: 'v2', served: true, storage: true }],
    },
    status: { storedVersions: ['v1', 'v2'] },
  };
  const client = {
    get: async () => definition,
    list: async () => ({ metadata: {}, items: [] }),
    status: () => ({
      update: async () => {
        if (++writes > 50) throw new Error('written again and again');
        throw new StatusError({ code: 409, reason: 'Conflict', message: 'denied by a webhook' });
      },
    }),
  } as unknown as Client;
  await expect(migrateStorage(client, 'sites.example.com', { settleMs: 0 })).rejects.toThrow('denied by a webhook');
  expect(writes).toBe(10);
});
