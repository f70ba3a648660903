// Stored objects move from v1alpha1 to v1, on the embedded server and (pnpm e2e) on the real one.
import { defineKind, mutableCopy, type KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { Client } from '@kctl/client';
import { intercept } from '@kctl/client';
import { isStorageMigration, migrateStorage } from '@kctl/client/operations';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEnvironment, eventually, type TestEnvironment } from '../src/index.js';

interface Gear extends KubeObject {
  spec?: { size?: number };
}
const options = { group: 'storage.kctl.dev', kind: 'Gear', plural: 'gears', scope: 'Namespaced' } as const;
const GearAlpha = defineKind<Gear>()({ ...options, version: 'v1alpha1' });
const GearV1 = defineKind<Gear>()({ ...options, version: 'v1' });
const name = 'gears.storage.kctl.dev';

let environment: TestEnvironment;
let client: Client;
let namespace: string;
const schema = (more: object = {}) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer', ...more } } } },
  },
});
const version = (versionName: string, storage: boolean, more: object = {}) => ({
  name: versionName,
  served: true,
  storage,
  schema: schema(more),
});
type Version = ReturnType<typeof version>;

async function setVersions(...versions: Version[]): Promise<void> {
  const crd = mutableCopy(await client.get(CustomResourceDefinition, { name }));
  crd.spec.versions = versions;
  await client.update(CustomResourceDefinition, crd);
}

async function storedVersions(): Promise<readonly string[]> {
  return (await client.get(CustomResourceDefinition, { name })).status?.storedVersions ?? [];
}

/** The client, with something that happens before each write of a migration. */
function beforePatch(happens: (name: string) => void | Promise<void>): Client {
  return intercept(client, (next) => ({
    async patch(kind, key, patch, settings) {
      await happens(key.name);
      return await next.patch(kind, key, patch, settings);
    },
  }));
}

beforeAll(async () => {
  environment = await createEnvironment({ controllerManager: false });
  client = environment.client;
});
afterAll(() => environment.stop());

beforeEach(async () => {
  namespace = await environment.createNamespace('storage');
  const kept = await client.get(CustomResourceDefinition, { name }).catch(() => undefined);
  if (kept !== undefined) {
    await client.delete(CustomResourceDefinition, kept);
    await eventually(() => expect(client.get(CustomResourceDefinition, { name })).rejects.toThrow('not found'));
  }
  const { group, kind, plural, scope } = options;
  await environment.installCrds([
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: { group, scope, names: { kind, plural }, versions: [version('v1alpha1', true)] },
    },
  ]);
  for (let index = 0; index < 25; index++)
    await client.create(GearAlpha, { metadata: { namespace, name: `gear-${index}` }, spec: { size: index } });
  await setVersions(version('v1alpha1', false), version('v1', true));
  await eventually(async () => expect((await client.list(GearV1, { namespace })).items).toHaveLength(25));
});

describe('migrateStorage', () => {
  it('moves every object to the storage version, so that the old one can be dropped', async () => {
    expect(await storedVersions()).toEqual(['v1alpha1', 'v1']);
    await expect(setVersions(version('v1', true))).rejects.toThrow('status.storedVersions');
    const before = await client.get(GearV1, { namespace, name: 'gear-3' });
    const progress: number[] = [];
    const result = await migrateStorage(client, GearV1, {
      pageSize: 10,
      settleMs: 200,
      onProgress: ({ migrated }) => progress.push(migrated),
    });
    expect(result).toEqual({ storageVersion: 'v1', migrated: 25, pruned: ['v1alpha1'] });
    expect(progress).toHaveLength(25);
    expect(await storedVersions()).toEqual(['v1']);
    const after = await client.get(GearV1, { namespace, name: 'gear-3' });
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    expect({ ...after.metadata, resourceVersion: '', managedFields: [] }).toEqual({
      ...before.metadata,
      resourceVersion: '',
      managedFields: [],
    });
    expect(after.spec).toEqual({ size: 3 });
    await setVersions(version('v1', true));
    await eventually(async () => {
      const { items } = await client.list(GearV1, { namespace });
      expect(items.map(({ spec }) => spec?.size).sort((a = 0, b = 0) => a - b)).toEqual(
        Array.from({ length: 25 }, (_item, index) => index),
      );
    });
    // Nothing is left to do, and nothing is written.
    expect(await migrateStorage(client, name)).toEqual({ storageVersion: 'v1', migrated: 0, pruned: [] });
  });

  it('prunes nothing when it is aborted, and goes on from there', async () => {
    const stop = new AbortController();
    const onProgress = ({ migrated }: { readonly migrated: number }): void => {
      if (migrated === 7) stop.abort(new Error('deploy goes on'));
    };
    const first = migrateStorage(client, name, { settleMs: 200, concurrency: 2, onProgress, signal: stop.signal });
    await expect(first).rejects.toThrow('deploy goes on');
    expect(await storedVersions()).toEqual(['v1alpha1', 'v1']);
    expect(await migrateStorage(client, name, { settleMs: 0 })).toMatchObject({ migrated: 25, pruned: ['v1alpha1'] });
  });

  it('prunes nothing while an object cannot be written, and names it', async () => {
    const broken = beforePatch((object) => {
      if (object === 'gear-4') throw new Error('the webhook refuses it');
    });
    const failed: unknown = await migrateStorage(broken, name, { settleMs: 0 }).catch((error: unknown) => error);
    if (!isStorageMigration(failed)) throw failed;
    expect(failed.message).toBe(
      `migrate storage of ${name}: objects could not be written: ${namespace}/gear-4: the webhook refuses it: correct them, then run the migration again`,
    );
    expect(failed).toMatchObject({ failed: 1, failures: [{ namespace, name: 'gear-4' }] });
    expect(await storedVersions()).toEqual(['v1alpha1', 'v1']);
  });

  it('passes over all objects again when the definition changes meanwhile', async () => {
    let isChanged = false;
    const passes = new Set<number>();
    const busy = beforePatch(async () => {
      if (isChanged) return;
      isChanged = true;
      // For a moment objects are stored in the old version again.
      await setVersions(version('v1alpha1', true), version('v1', false));
      await setVersions(version('v1alpha1', false), version('v1', true));
    });
    const result = await migrateStorage(busy, name, { settleMs: 200, onProgress: ({ pass }) => passes.add(pass) });
    expect(result).toMatchObject({ migrated: 25, pruned: ['v1alpha1'] });
    expect([...passes]).toEqual([1, 2]);
  });

  it('counts what others write or delete meanwhile as migrated', async () => {
    let isDone = false;
    const busy = beforePatch(async () => {
      if (isDone) return;
      isDone = true;
      const { spec, ...draft } = mutableCopy(await client.get(GearV1, { namespace, name: 'gear-9' }));
      await client.update(GearV1, { ...draft, spec: { ...spec, size: 99 } });
      await client.delete(GearV1, { namespace, name: 'gear-8' });
    });
    expect(await migrateStorage(busy, name, { settleMs: 0, concurrency: 1 })).toMatchObject({ pruned: ['v1alpha1'] });
    expect((await client.get(GearV1, { namespace, name: 'gear-9' })).spec).toEqual({ size: 99 });
  });

  it('refuses options that are not valid, and a definition without a served version', async () => {
    await expect(migrateStorage(client, name, { concurrency: 0 })).rejects.toThrow('concurrency');
    await expect(migrateStorage(client, 'bogus.kctl.dev')).rejects.toThrow('not found');
    await setVersions({ ...version('v1alpha1', false), served: false }, { ...version('v1', true), served: false });
    await expect(migrateStorage(client, name, { settleMs: 0 })).rejects.toThrow('set served: true on one version');
  });
});
