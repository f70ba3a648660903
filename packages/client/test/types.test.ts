// What must not compile: each @ts-expect-error fails the type check when the line below it is accepted.
import { isGone, isNotFound, metadataOnly, mutableCopy, stripped } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import type { PersistedObject } from '@kctl/apimachinery';
import type { Scale } from '@kctl/apimachinery/kinds/autoscaling/v1';
import type { Secret } from '@kctl/apimachinery/kinds/core/v1';
import { ConfigMap, Namespace, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expectTypeOf, it } from 'vitest';
import {
  apply,
  createOrPatch,
  createOrUpdate,
  exists,
  hasCondition,
  inNamespace,
  isDeleted,
  isReady,
  mergeFrom,
  waitFor,
  withDryRun,
} from '../src/index.js';
import type { Client, ReadObject, WaitCondition, WatchingClient } from '../src/index.js';

declare const client: Client;
declare const watching: WatchingClient;
const key = { namespace: 'ns', name: 'a' };

/** Type-checked, never run. */
const compiled = (_work: () => Promise<unknown>): void => undefined;

describe('the types of a client', () => {
  it('refuse the object of another kind', () => {
    compiled(async () => {
      const pod = mutableCopy(await client.get(Pod, key));
      await client.update(Pod, pod);
      // @ts-expect-error — a Pod is no Deployment
      await client.update(Deployment, pod);
      const secret: Secret = { metadata: key };
      // @ts-expect-error — a Secret is no ConfigMap, though each field of it could be one's
      await client.create(ConfigMap, secret);
      // @ts-expect-error — replicas is a number
      await client.create(Deployment, { metadata: key, spec: { replicas: '1' } });
    });
  });

  it('refuse to wait until an error is an object', () => {
    compiled(async () => {
      await waitFor(client, ConfigMap, key, { until: (found) => found?.data?.['color'] === 'red', timeoutMs: 1 });
      for (const until of [exists(), isDeleted(), isReady(), hasCondition('Ready')])
        await waitFor(client, ConfigMap, key, { until });
      const until: WaitCondition<typeof ConfigMap> = (found) => found !== undefined;
      const found = await waitFor(watching, ConfigMap, key, { until });
      expectTypeOf(found).toEqualTypeOf<ReadObject<typeof ConfigMap> | undefined>();
      // @ts-expect-error — isGone is a guard of errors (410), isDeleted() is the condition
      await waitFor(client, ConfigMap, key, { until: isGone });
      // @ts-expect-error — isNotFound is a guard of errors too
      await waitFor(client, ConfigMap, key, { until: isNotFound });
      // @ts-expect-error — isDeleted makes a condition: it must be called
      await waitFor(client, ConfigMap, key, { until: isDeleted });
    });
  });

  it('have nothing but metadata where only metadata was asked for', () => {
    compiled(async () => {
      const meta = await client.get(metadataOnly(Pod), key);
      expectTypeOf(meta.metadata.labels).toEqualTypeOf<{ readonly [x: string]: string } | undefined>();
      // @ts-expect-error — there is no spec
      return meta.spec;
    });
  });

  it('let nobody change what was read', () => {
    compiled(async () => {
      const pod = await client.get(Pod, key);
      // @ts-expect-error — readonly
      pod.metadata.labels = {};
      // @ts-expect-error — readonly at every depth
      pod.spec!.containers[0]!.image = 'x';
      // @ts-expect-error — so are lists
      pod.spec!.containers[0] = { name: 'x' };
      const { items } = await client.list(Pod);
      // @ts-expect-error — and what lists hold
      items[0]!.metadata.name = 'x';
      const draft = mutableCopy(pod);
      draft.metadata.labels = {};
      expectTypeOf(draft.spec).toEqualTypeOf<Pod['spec']>();
    });
  });

  it('refuse to write back what a cache has stripped', () => {
    compiled(async () => {
      const Lean = stripped(Pod);
      const lean = await client.get(Lean, key);
      expectTypeOf(lean.spec?.nodeName).toEqualTypeOf<string | undefined>();
      // @ts-expect-error — the update would delete what was stripped
      await client.update(Pod, lean);
      // @ts-expect-error — under whatever token
      await client.update(Lean, lean);
      // @ts-expect-error — a copy has no more in it
      await client.update(Pod, mutableCopy(lean));
      // @ts-expect-error — nor has a changed one
      await client.update(Pod, { ...lean, metadata: { ...lean.metadata, labels: { a: 'b' } } });
      const { items } = await client.list(Lean);
      // @ts-expect-error — nor one out of a list
      await client.update(Pod, items[0]!);
      // @ts-expect-error — a status update replaces labels and annotations of some kinds
      await client.status(Pod).update(lean);
      // @ts-expect-error — by whatever way it is sent
      await client.subResource(Pod, 'status').update(key, lean);
      // @ts-expect-error — also in a namespace
      await inNamespace(client, 'ns').update(Pod, lean);
      // @ts-expect-error — it would read from the cache and write back
      await createOrUpdate(client, Lean, key, { mutate: () => undefined });
    });
  });

  it('refuse to write back metadata as if it were the object', () => {
    compiled(async () => {
      const metadata = await client.get(metadataOnly(ConfigMap), key);
      // @ts-expect-error — this would delete all data
      await client.update(ConfigMap, metadata);
      // @ts-expect-error — a copy has no more in it
      await client.update(ConfigMap, mutableCopy(metadata));
      // @ts-expect-error — it would read metadata and write back that
      await createOrUpdate(client, metadataOnly(ConfigMap), key, { mutate: () => undefined });
    });
  });

  it('let what was stripped be read, patched and fetched whole', () => {
    compiled(async () => {
      const Lean = stripped(Pod);
      const lean = await client.get(Lean, key);
      const isReady = (pod: Pick<ReadObject<typeof Pod>, 'status'>): boolean => pod.status?.phase === 'Running';
      isReady(lean);
      const draft = mutableCopy(lean);
      await client.patch(Lean, key, mergeFrom(lean, draft));
      await client.status(Lean).patch(key, { type: 'merge', body: { status: {} } });
      await createOrPatch(client, Lean, key, { mutate: (pod) => void (pod.metadata.labels = {}) });
      await client.delete(Lean, key);
      const whole = await client.get(Pod, key);
      await client.update(Pod, whole);
      await client.update(Lean, whole);
      await createOrUpdate(client, Pod, key, { mutate: () => undefined });
    });
  });

  it('want a namespace where the kind is namespaced', () => {
    compiled(async () => {
      // @ts-expect-error — which namespace?
      await client.get(Pod, { name: 'a' });
      // @ts-expect-error — which namespace?
      await client.status(Pod).patch({ name: 'a' }, { type: 'merge', body: {} });
      await client.get(Namespace, { name: 'a' });
      await inNamespace(client, 'ns').get(Pod, { name: 'a' });
      // @ts-expect-error — which namespace?
      await apply(client, ConfigMap, { metadata: { name: 'a' } });
      await apply(client, Namespace, { metadata: { name: 'a' } });
    });
  });

  it('know what comes back', () => {
    compiled(async () => {
      expectTypeOf(await client.get(Pod, key)).toEqualTypeOf<ReadObject<typeof Pod>>();
      expectTypeOf(await client.create(Pod, { metadata: key })).toEqualTypeOf<PersistedObject<typeof Pod>>();
      const scales = client.subResource<typeof Deployment, Scale>(Deployment, 'scale');
      expectTypeOf((await scales.get(key)).spec?.replicas).toEqualTypeOf<number | undefined>();
      await apply(client, Deployment, { metadata: key, spec: { template: { spec: { containers: [{ name: 'a' }] } } } });
      // @ts-expect-error — an apply states parts, but not parts that do not exist
      await apply(client, Deployment, { metadata: key, spec: { replica: 1 } });
    });
  });

  it('keep a watching client watching', () => {
    compiled(() => {
      expectTypeOf(withDryRun(watching)).toEqualTypeOf<WatchingClient>();
      expectTypeOf(withDryRun(client)).toEqualTypeOf<Client>();
      expectTypeOf(inNamespace(watching, 'ns')).toExtend<WatchingClient>();
      expectTypeOf(inNamespace(client, 'ns')).not.toExtend<WatchingClient>();
      return Promise.resolve();
    });
  });
});
