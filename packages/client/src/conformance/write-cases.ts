import {
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isInvalid,
  isNotFound,
  keyOf,
  mutableCopy,
} from '@kctl/apimachinery';
import type { PersistedObject } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { applySubResource, isApplyConflict } from '../apply.js';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import { jsonPatch, mergeFrom, mergePatch, strategicPatch } from '../patch.js';
import { needs } from './case.js';
import type { SkipReasons } from './case.js';
import { configMap, deployment } from './context.js';
import type { ConformanceContext } from './context.js';

export function writeCases(context: ConformanceContext, reasons: SkipReasons): void {
  const { namespace } = context;
  const create = (name: string, labels?: Record<string, string>): Promise<PersistedObject<typeof ConfigMap>> =>
    context.client.create(ConfigMap, configMap(context, name, labels));
  const gone = async (name: string): Promise<void> => {
    await expect(context.client.get(ConfigMap, { namespace, name })).rejects.toSatisfy(isNotFound);
  };

  describe('create', () => {
    it('returns the object as it was stored', async () => {
      const name = context.name();
      const created = await create(name);
      expect(created).toMatchObject({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name },
        data: { a: '1' },
      });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    });

    it('does not need apiVersion and kind in the object, and leaves it alone', async () => {
      const object: ConfigMap = Object.freeze({ metadata: Object.freeze({ namespace, name: context.name() }) });
      expect(await context.client.create(ConfigMap, object)).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    });

    it('fails with AlreadyExists where the name is taken', async () => {
      const name = context.name();
      await create(name);
      const failure: unknown = await create(name).catch((error: unknown) => error);
      expect(isAlreadyExists(failure)).toBe(true);
      expect(isConflict(failure)).toBe(false);
    });

    it('makes names from generateName', async () => {
      const generateName = `${context.name()}-`;
      const make = (): Promise<PersistedObject<typeof ConfigMap>> =>
        context.client.create(ConfigMap, { metadata: { namespace, generateName } });
      const [first, second] = [await make(), await make()];
      expect(first.metadata.name.startsWith(generateName)).toBe(true);
      expect(first.metadata.name).not.toBe(second.metadata.name);
    });

    it('fails where the object is not valid', async () => {
      const object = { metadata: { namespace, name: 'Not_A_Name' } };
      await expect(context.client.create(ConfigMap, object)).rejects.toSatisfy(isInvalid);
    });

    needs(reasons, 'dryRun')('stores nothing in a dry run', async () => {
      const name = context.name();
      const answer = await context.client.create(ConfigMap, configMap(context, name), { dryRun: true });
      expect(answer.metadata.name).toBe(name);
      await gone(name);
    });

    needs(reasons, 'managedFields')('records the field owner', async () => {
      const object = configMap(context, context.name());
      const created = await context.client.create(ConfigMap, object, { fieldOwner: 'conformance' });
      expect(created.metadata.managedFields).toMatchObject([{ manager: 'conformance', operation: 'Update' }]);
    });

    needs(reasons, 'fieldValidation')('refuses unknown fields where it is to be strict', async () => {
      const object = { ...configMap(context, context.name()), dota: { a: '1' } };
      await expect(context.client.create(ConfigMap, object, { fieldValidation: 'Strict' })).rejects.toSatisfy(
        isBadRequest,
      );
      await expect(context.client.create(ConfigMap, object, { fieldValidation: 'Ignore' })).resolves.toBeDefined();
    });

    it('writes nothing when the signal is aborted', async () => {
      const name = context.name();
      const reason = new Error('not now');
      const object = configMap(context, name);
      await expect(context.client.create(ConfigMap, object, { signal: AbortSignal.abort(reason) })).rejects.toBe(
        reason,
      );
      await gone(name);
    });
  });

  describe('update', () => {
    it('replaces the object and moves its version', async () => {
      const created = await create(context.name());
      const updated = await context.client.update(ConfigMap, { ...created, data: { b: '2' } });
      expect(updated.data).toEqual({ b: '2' });
      expect(updated.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
      expect(updated.metadata.uid).toBe(created.metadata.uid);
    });

    it('fails with a conflict where the object has changed since it was read', async () => {
      const created = await create(context.name());
      await context.client.update(ConfigMap, { ...created, data: { b: '2' } });
      const failure: unknown = await context.client
        .update(ConfigMap, { ...created, data: { c: '3' } })
        .catch((error: unknown) => error);
      expect(isConflict(failure)).toBe(true);
      expect(isAlreadyExists(failure)).toBe(false);
    });

    it('keeps the version where nothing changes', async () => {
      const created = await create(context.name());
      const updated = await context.client.update(ConfigMap, created);
      expect(updated.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    });

    it('fails with NotFound where there is none', async () => {
      await expect(context.client.update(ConfigMap, configMap(context, context.name()))).rejects.toSatisfy(isNotFound);
    });

    needs(reasons, 'dryRun')('stores nothing in a dry run', async () => {
      const created = await create(context.name());
      const answer = await context.client.update(ConfigMap, { ...created, data: { b: '2' } }, { dryRun: true });
      expect(answer.data).toEqual({ b: '2' });
      const key = keyOf(created);
      expect((await context.client.get(ConfigMap, key)).data).toEqual({ a: '1' });
    });
  });

  describe('patch', () => {
    it('merges: null removes', async () => {
      const name = context.name();
      await create(name, { keep: 'yes' });
      const patch = mergePatch({ data: { a: null, b: '2' }, metadata: { labels: { more: 'yes' } } });
      const patched = await context.client.patch(ConfigMap, { namespace, name }, patch);
      expect(patched.data).toEqual({ b: '2' });
      expect(patched.metadata.labels).toEqual({ keep: 'yes', more: 'yes' });
    });

    it('merges what changed, and with a lock only what nobody else changed', async () => {
      const name = context.name();
      const created = await create(name);
      const modified = mutableCopy(created);
      modified.data = { a: '2' };
      await context.client.patch(
        ConfigMap,
        { namespace, name },
        mergeFrom(created, modified, { optimisticLock: true }),
      );
      const again = mergeFrom(created, modified, { optimisticLock: true });
      await expect(context.client.patch(ConfigMap, { namespace, name }, again)).rejects.toSatisfy(isConflict);
      const unguarded = await context.client.patch(ConfigMap, { namespace, name }, mergeFrom(created, modified));
      expect(unguarded.data).toEqual({ a: '2' });
    });

    it('follows JSON patches, and refuses them where a test fails', async () => {
      const name = context.name();
      await create(name, { 'example.com/a': '1' });
      const key = { namespace, name };
      const path = '/metadata/labels/example.com~1a';
      const patch = jsonPatch({ op: 'test', path, value: '1' }, { op: 'replace', path, value: '2' });
      expect((await context.client.patch(ConfigMap, key, patch)).metadata.labels).toEqual({ 'example.com/a': '2' });
      const failing = jsonPatch({ op: 'test', path, value: '1' }, { op: 'remove', path: '/data/a' });
      await expect(context.client.patch(ConfigMap, key, failing)).rejects.toSatisfy(isInvalid);
      expect((await context.client.get(ConfigMap, key)).data).toEqual({ a: '1' });
    });

    needs(reasons, 'strategic')('merges lists by key where the patch is strategic', async () => {
      const name = context.name();
      await context.client.create(Deployment, deployment(context, name));
      const patch = strategicPatch({
        spec: { template: { spec: { containers: [{ name: 'side', image: 'example.com/side:1' }] } } },
      });
      const patched = await context.client.patch(Deployment, { namespace, name }, patch);
      const names = patched.spec?.template.spec?.containers.map((container) => container.name);
      expect(names?.sort()).toEqual(['main', 'side']);
    });

    it('fails with NotFound where there is none', async () => {
      const patch = mergePatch({ data: { a: '2' } });
      await expect(context.client.patch(ConfigMap, { namespace, name: context.name() }, patch)).rejects.toSatisfy(
        isNotFound,
      );
    });

    it('carries values that are hard to carry', async () => {
      const name = context.name();
      const data = {
        empty: '',
        unicode: 'ä€𝄞\u2028',
        quotes: '"\\\n\t',
        digits: '12345678901234567890',
        proto: '__proto__',
      };
      const created = await context.client.create(ConfigMap, { metadata: { namespace, name }, data });
      expect(created.data).toEqual(data);
      expect((await context.client.get(ConfigMap, { namespace, name })).data).toEqual(data);
    });
  });

  describe('delete', () => {
    it('removes the object', async () => {
      const name = context.name();
      await create(name);
      await context.client.delete(ConfigMap, { namespace, name });
      await gone(name);
      await expect(context.client.delete(ConfigMap, { namespace, name })).rejects.toSatisfy(isNotFound);
    });

    it('only marks it while a finalizer keeps it', async () => {
      const name = context.name();
      const key = { namespace, name };
      const object = configMap(context, name);
      await context.client.create(ConfigMap, {
        ...object,
        metadata: { ...object.metadata, finalizers: ['example.com/keep'] },
      });
      await context.client.delete(ConfigMap, key);
      const marked = await context.client.get(ConfigMap, key);
      expect(marked.metadata.deletionTimestamp).toMatch(/Z$/);
      await context.client.patch(ConfigMap, key, mergePatch({ metadata: { finalizers: null } }));
      await gone(name);
    });

    it('respects preconditions', async () => {
      const name = context.name();
      const created = await create(name);
      const key = { namespace, name };
      const uid = '00000000-0000-0000-0000-000000000000';
      await expect(context.client.delete(ConfigMap, key, { preconditions: { uid } })).rejects.toSatisfy(isConflict);
      const resourceVersion = '1';
      await expect(context.client.delete(ConfigMap, key, { preconditions: { resourceVersion } })).rejects.toSatisfy(
        isConflict,
      );
      await context.client.delete(ConfigMap, key, {
        preconditions: { uid: created.metadata.uid, resourceVersion: created.metadata.resourceVersion },
      });
      await gone(name);
    });

    needs(reasons, 'dryRun')('removes nothing in a dry run', async () => {
      const name = context.name();
      await create(name);
      await context.client.delete(ConfigMap, { namespace, name }, { dryRun: true });
      await expect(context.client.get(ConfigMap, { namespace, name })).resolves.toBeDefined();
    });

    it('removes all that match, and nothing else', async () => {
      const label = { group: context.name() };
      const [kept, ...others] = [context.name(), context.name(), context.name()];
      await create(kept ?? '', { group: 'other' });
      for (const name of others) await create(name, label);
      const answer = await context.client.deleteAllOf(ConfigMap, { namespace, labelSelector: label });
      // What is answered is the client's and the server's choice; a list must be of what was deleted.
      if (answer !== undefined && 'items' in answer)
        expect(answer.items.map(({ metadata }) => metadata.name).sort()).toEqual([...others].sort());
      for (const name of others) await gone(name);
      await expect(context.client.get(ConfigMap, { namespace, name: kept ?? '' })).resolves.toBeDefined();
    });
  });

  describe('subresources', () => {
    it('keep status and the rest apart', async () => {
      const name = context.name();
      const key = { namespace, name };
      const created = await context.client.create(Deployment, {
        ...deployment(context, name),
        status: { observedGeneration: 7 },
      });
      expect(created.status?.observedGeneration).toBeUndefined();
      const draft = mutableCopy(await context.client.get(Deployment, key));
      draft.metadata.labels = { ignored: 'yes' };
      draft.status = { observedGeneration: 41 };
      const written = await context.client.status(Deployment).update(draft);
      expect(written.status?.observedGeneration).toBe(41);
      expect(written.spec).toEqual(draft.spec);
      const patched = await context.client
        .status(Deployment)
        .patch(key, mergePatch({ status: { observedGeneration: 42 } }));
      expect(patched.status?.observedGeneration).toBe(42);
      const main = await context.client.patch(
        Deployment,
        key,
        mergePatch({ status: { observedGeneration: 1 }, spec: { paused: true } }),
      );
      expect([main.spec?.paused, main.status?.observedGeneration]).toEqual([true, 42]);
    });

    needs(reasons, 'scale')('have bodies of their own', async () => {
      const name = context.name();
      const key = { namespace, name };
      await context.client.create(Deployment, deployment(context, name, 2));
      const scales = context.client.subResource(Deployment, 'scale');
      const scale = await scales.get(key);
      expect(scale).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 } });
      const scaled = await scales.update(key, { ...scale, spec: { replicas: 1 } });
      expect(scaled.spec?.replicas).toBe(1);
      await scales.patch(key, mergePatch({ spec: { replicas: 0 } }));
      const wanted = { metadata: key, spec: { replicas: 3 } };
      const options = { subresource: 'scale', fieldOwner: 'scaler', force: true } as const;
      const applied = await applySubResource(context.client, Deployment, wanted, options);
      expect(applied).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
      const others = applySubResource(
        context.client,
        Deployment,
        { ...wanted, spec: { replicas: 4 } },
        { subresource: 'scale', fieldOwner: 'other' },
      );
      await expect(others).rejects.toSatisfy(isApplyConflict);
      await scales.patch(key, mergePatch({ spec: { replicas: 0 } }));
      expect((await context.client.get(Deployment, key)).spec?.replicas).toBe(0);
    });

    it('fail with NotFound where the object is not there', async () => {
      const key = { namespace, name: context.name() };
      const patch = mergePatch({ status: { observedGeneration: 1 } });
      await expect(context.client.status(Deployment).patch(key, patch)).rejects.toSatisfy(isNotFound);
    });
  });
}
