import { deepFreeze, isNotFound, keyOf, metadataOnly } from '@kctl/apimachinery';
import type { KeyOrObject, NamespacedKey } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import type { ReadObject } from '../client.js';
import { mergePatch } from '../patch.js';
import { configMap, deployment } from './context.js';
import type { ConformanceContext } from './context.js';

/** What a call may name an object by, made from the object. */
const namers: readonly [string, (object: ReadObject<typeof ConfigMap>) => KeyOrObject<typeof ConfigMap>][] = [
  ['an object as it was read', (object) => object],
  ['its key', (object) => keyOf(object)],
  ['a frozen object', (object) => deepFreeze(structuredClone(object))],
  ['its metadata alone', ({ metadata }) => ({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata })],
  ['an object without a kind', ({ metadata }) => ({ metadata })],
];

export function keyCases(context: ConformanceContext): void {
  const { namespace } = context;

  describe('what names an object', () => {
    it.each(namers)('may be %s, for every verb', async (_name, namer) => {
      const { client } = context;
      const name = context.name();
      await client.create(ConfigMap, configMap(context, name));
      const { items } = await client.list(ConfigMap, { namespace, fieldSelector: { 'metadata.name': name } });
      const item = items[0];
      if (item === undefined) throw new Error(`ConfigMap ${name} is not in the list`);
      const named = namer(item);
      expect((await client.get(ConfigMap, named)).metadata.uid).toBe(item.metadata.uid);
      expect((await client.get(metadataOnly(ConfigMap), named)).metadata.uid).toBe(item.metadata.uid);
      expect((await client.patch(ConfigMap, named, mergePatch({ data: { a: '2' } }))).data).toEqual({ a: '2' });
      // Of an object the name counts, not the version: this one is old by now.
      await client.delete(ConfigMap, named);
      await expect(client.get(ConfigMap, named)).rejects.toSatisfy(isNotFound);
    });

    it('may be an object for subresources, too', async () => {
      const { client } = context;
      const name = context.name();
      const created = await client.create(Deployment, deployment(context, name));
      const body = mergePatch({ status: { observedGeneration: 5 } });
      expect((await client.status(Deployment).patch(created, body)).status?.observedGeneration).toBe(5);
      const status = client.subResource(Deployment, 'status');
      expect((await status.get(created)).metadata.uid).toBe(created.metadata.uid);
      const again = mergePatch({ status: { observedGeneration: 6 } });
      expect((await status.patch(created, again)).status?.observedGeneration).toBe(6);
      await client.delete(Deployment, created);
    });

    it('may be an object of a cluster-scoped kind', async () => {
      const found = await context.client.get(Namespace, { name: namespace });
      expect((await context.client.get(Namespace, found)).metadata.uid).toBe(found.metadata.uid);
    });

    it('has a namespace, or comes from a client that fills it in: it is never just not found', async () => {
      const { client } = context;
      const calls = [
        (key: NamespacedKey) => client.get(ConfigMap, key),
        (key: NamespacedKey) => client.patch(ConfigMap, key, mergePatch({})),
        (key: NamespacedKey) => client.delete(ConfigMap, key),
        (key: NamespacedKey) => client.status(Deployment).patch(key, mergePatch({})),
      ];
      const key = { name: context.name() } as NamespacedKey;
      const isFilledIn = 'namespace' in client && client.namespace === namespace;
      for (const call of calls) {
        const failure: unknown = await call(key).catch((error: unknown) => error);
        if (isFilledIn) expect(isNotFound(failure)).toBe(true);
        else expect(String(failure)).toMatch(/(ConfigMap|Deployment) ".*": namespace is not set/);
      }
    });

    it('is not an object of another kind', async () => {
      const { client } = context;
      const other = await client.create(ConfigMap, configMap(context, context.name()));
      await expect(client.delete(Deployment, other)).rejects.toThrow(
        /delete Deployment\.apps: the object is a ConfigMap/,
      );
      await expect(client.get(Deployment, other)).rejects.toThrow(TypeError);
      await expect(client.patch(Deployment, other, mergePatch({}))).rejects.toThrow(TypeError);
      await expect(client.status(Deployment).patch(other, mergePatch({}))).rejects.toThrow(TypeError);
      await client.delete(ConfigMap, other);
    });
  });
}
