import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import { isDeleted } from '../conditions.js';
import { mergePatch } from '../patch.js';
import { createOrPatch, createOrUpdate } from '../create-or-update.js';
import { addFinalizer, removeFinalizer } from '../finalizer.js';
import { retryOnConflict } from '../retry-on-conflict.js';
import { waitFor } from '../wait-for.js';
import type { SkipReasons } from './case.js';
import { configMap, deployment } from './context.js';
import type { ConformanceContext } from './context.js';

export function helperCases(context: ConformanceContext, _reasons: SkipReasons): void {
  const { namespace } = context;

  describe('helpers', () => {
    it('create or update: created, unchanged, updated', async () => {
      const key = { namespace, name: context.name() };
      const set = (value: string) => (draft: ConfigMap) => {
        draft.data = { a: value };
      };
      const results = [];
      for (const value of ['1', '1', '2']) {
        results.push((await createOrUpdate(context.client, ConfigMap, key, { mutate: set(value) })).result);
      }
      expect(results).toEqual(['created', 'unchanged', 'updated']);
    });

    it('create or patch: tells the status from the rest', async () => {
      const key = { namespace, name: context.name() };
      const { spec } = deployment(context, key.name);
      const set = (paused: boolean, readyReplicas: number) => (draft: Deployment) => {
        draft.spec = { ...(draft.spec ?? spec!), paused };
        draft.status = { ...draft.status, observedGeneration: readyReplicas };
      };
      const results = [];
      for (const [paused, count] of [
        [false, 1],
        [false, 2],
        [true, 2],
        [false, 3],
      ] as const) {
        results.push((await createOrPatch(context.client, Deployment, key, { mutate: set(paused, count) })).result);
      }
      expect(results[0]).toBe('created');
      expect(results[1]).toMatch(/^updatedStatus/);
      expect(['updated', 'updatedStatus']).toContain(results[2]);
      expect(results[3]).toBe('updatedStatus');
    });

    it('finalizers: added once beside others, removed alone, gone with the object', async () => {
      const name = context.name();
      const created = await context.client.create(ConfigMap, configMap(context, name));
      const first = await addFinalizer(context.client, ConfigMap, created, 'example.com/a');
      // By what was read before the first one was there: the guard fails, the object is read again.
      const both = await addFinalizer(context.client, ConfigMap, created, 'example.com/b');
      expect(both.metadata.finalizers).toEqual(['example.com/a', 'example.com/b']);
      expect(await addFinalizer(context.client, ConfigMap, first, 'example.com/a')).toBe(first);
      await context.client.delete(ConfigMap, { namespace, name });
      const left = await removeFinalizer(context.client, ConfigMap, both, 'example.com/a');
      expect(left?.metadata.finalizers).toEqual(['example.com/b']);
      await removeFinalizer(context.client, ConfigMap, both, 'example.com/b');
      expect(await removeFinalizer(context.client, ConfigMap, both, 'example.com/b')).toBeUndefined();
    });

    it('retry on conflict: two writers, no update lost', async () => {
      const key = { namespace, name: context.name() };
      await context.client.create(ConfigMap, configMap(context, key.name));
      const writer = (id: string) =>
        retryOnConflict(
          async () => {
            const present = await context.client.get(ConfigMap, key, { live: true });
            return await context.client.update(ConfigMap, { ...present, data: { ...present.data, [id]: id } });
          },
          { backoff: { maxAttempts: 20, initialMs: 1, factor: 1.5, jitter: 1 } },
        );
      await Promise.all(['x', 'y', 'z'].map(writer));
      expect((await context.client.get(ConfigMap, key)).data).toEqual({ a: '1', x: 'x', y: 'y', z: 'z' });
    });

    it('wait for a change, and for the end', async () => {
      const key = { namespace, name: context.name() };
      const appeared = waitFor(context.client, ConfigMap, key, {
        until: (object) => object?.data?.['a'] === '1',
        timeoutMs: 10_000,
      });
      const created = await context.client.create(ConfigMap, configMap(context, key.name));
      expect((await appeared)?.metadata.uid).toBe(created.metadata.uid);
      const disappeared = waitFor(context.client, ConfigMap, key, {
        until: isDeleted(created.metadata.uid),
        timeoutMs: 10_000,
      });
      const targets = [
        waitFor(context.client, ConfigMap, created, { deleted: true, timeoutMs: 10_000 }),
        waitFor(context.client, ConfigMap, key, { jsonPath: '{.data.a}=2', timeoutMs: 10_000 }),
      ];
      await context.client.patch(ConfigMap, key, mergePatch(ConfigMap, { data: { a: '2' } }));
      expect((await targets[1])?.data).toEqual({ a: '2' });
      await context.client.delete(ConfigMap, key);
      expect([await disappeared, await targets[0]]).toEqual([undefined, undefined]);
    });
  });
}
