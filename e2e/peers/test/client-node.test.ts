/** @kubernetes/client-node, unchanged, on the embedded server. */
import {
  CoreV1Api,
  CustomObjectsApi,
  AppsV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  Watch,
  type KubernetesObject,
  type V1ConfigMap,
  type V1CustomResourceDefinition,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPeerServer, type PeerServer } from '../src/server.js';

describe('@kubernetes/client-node on the embedded server', () => {
  let peer: PeerServer;
  let config: KubeConfig;
  let core: CoreV1Api;

  beforeAll(async () => {
    peer = await startPeerServer();
    config = new KubeConfig();
    config.loadFromFile(peer.kubeconfigPath);
    core = config.makeApiClient(CoreV1Api);
  });
  afterAll(async () => {
    await peer[Symbol.asyncDispose]();
  });

  const namespace = async (name: string): Promise<string> => {
    await core.createNamespace({ body: { metadata: { name } } });
    return name;
  };

  it('creates, reads, replaces, patches and deletes through the typed clients', async () => {
    const ns = await namespace('typed');
    const made = await core.createNamespacedConfigMap({
      namespace: ns,
      body: { metadata: { name: 'a' }, data: { a: '1' } },
    });
    expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
    const replaced = await core.replaceNamespacedConfigMap({
      namespace: ns,
      name: 'a',
      body: { ...made, data: { a: '2' } },
    });
    expect(replaced.data).toEqual({ a: '2' });
    await expect(core.replaceNamespacedConfigMap({ namespace: ns, name: 'a', body: made })).rejects.toMatchObject({
      code: 409,
    });
    const apps = config.makeApiClient(AppsV1Api);
    const deployment = await apps.createNamespacedDeployment({
      namespace: ns,
      body: {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { app: 'd' } },
          template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
    });
    expect(deployment.spec?.replicas).toBe(1);
    const scale = await apps.readNamespacedDeploymentScale({ namespace: ns, name: 'd' });
    const scaled = await apps.replaceNamespacedDeploymentScale({
      namespace: ns,
      name: 'd',
      body: { ...scale, spec: { replicas: 3 } },
    });
    expect(scaled.spec?.replicas).toBe(3);
    expect((await core.listNamespacedConfigMap({ namespace: ns })).items.map((item) => item.metadata?.name)).toEqual([
      'a',
    ]);
    expect((await core.deleteNamespacedConfigMap({ namespace: ns, name: 'a' })).status).toBe('Success');
    await expect(core.readNamespacedConfigMap({ namespace: ns, name: 'a' })).rejects.toMatchObject({ code: 404 });
  });

  it('KubernetesObjectApi finds kinds by discovery, custom ones too', async () => {
    const ns = await namespace('objects');
    const objects = KubernetesObjectApi.makeApiClient(config);
    const crd: V1CustomResourceDefinition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gizmos.peer.kctl.test' },
      spec: {
        group: 'peer.kctl.test',
        scope: 'Namespaced',
        names: { plural: 'gizmos', kind: 'Gizmo' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    };
    await objects.create(crd);
    interface Gizmo extends KubernetesObject {
      spec?: { size: number };
    }
    const gizmo: Gizmo = {
      apiVersion: 'peer.kctl.test/v1',
      kind: 'Gizmo',
      metadata: { name: 'g', namespace: ns },
      spec: { size: 1 },
    };
    const made = await objects.create<Gizmo>(gizmo);
    expect(made.spec).toEqual({ size: 1 });
    const header = { apiVersion: 'peer.kctl.test/v1', kind: 'Gizmo', metadata: { name: 'g', namespace: ns } };
    expect((await objects.read<Gizmo>(header)).spec).toEqual({ size: 1 });
    const patched = await objects.patch<Gizmo>(
      { ...header, spec: { size: 2 } },
      undefined,
      undefined,
      undefined,
      undefined,
      PatchStrategy.MergePatch,
    );
    expect(patched.spec).toEqual({ size: 2 });
    expect((await objects.list('peer.kctl.test/v1', 'Gizmo', ns)).items).toHaveLength(1);
    const deployed = await objects.create<KubernetesObject & { spec: unknown }>({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', namespace: ns },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    });
    expect(deployed.metadata?.uid).toBeDefined();
    expect((await objects.delete(header)).status).toBe('Success');
    await expect(objects.read(header)).rejects.toMatchObject({ code: 404 });
    const custom = config.makeApiClient(CustomObjectsApi);
    const list = (await custom.listNamespacedCustomObject({
      group: 'peer.kctl.test',
      version: 'v1',
      namespace: ns,
      plural: 'gizmos',
    })) as { items: unknown[] };
    expect(list.items).toEqual([]);
  });

  it('its informer sees what is there, and every change', async () => {
    const ns = await namespace('informed');
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: 'before' } } });
    const seen: string[] = [];
    const informer = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${ns}/configmaps`, () =>
      core.listNamespacedConfigMap({ namespace: ns }),
    );
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, (object: V1ConfigMap) => void seen.push(`${verb} ${object.metadata?.name ?? ''}`));
    informer.on('error', (error: unknown) => void seen.push(`error ${String(error)}`));
    await informer.start();
    const until = (expected: string) => expect.poll(() => seen, { timeout: 10_000 }).toContain(expected);
    await until('add before');
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: 'later' } } });
    await until('add later');
    await core.patchNamespacedConfigMap({
      namespace: ns,
      name: 'later',
      body: [{ op: 'add', path: '/data', value: { a: '1' } }],
    });
    await until('update later');
    await core.deleteNamespacedConfigMap({ namespace: ns, name: 'before' });
    await until('delete before');
    expect(informer.list(ns).map((object) => object.metadata?.name)).toEqual(['later']);
    await informer.stop();
    expect(seen.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('its informer goes on after the server dropped the watch and forgot the history', async () => {
    const ns = await namespace('dropped');
    const informer = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${ns}/configmaps`, () =>
      core.listNamespacedConfigMap({ namespace: ns }),
    );
    informer.on('error', () => void informer.start());
    await informer.start();
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: 'a' } } });
    await expect.poll(() => informer.list(ns).length, { timeout: 10_000 }).toBe(1);
    peer.server.restore(peer.server.snapshot());
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: 'b' } } });
    await expect.poll(() => informer.list(ns).length, { timeout: 20_000 }).toBe(2);
    await informer.stop();
  });

  it('its Watch delivers events and the end of a watch with a timeout', async () => {
    const ns = await namespace('watched');
    const types: string[] = [];
    const ended = new Promise<unknown>((resolve, reject) => {
      new Watch(config)
        .watch(`/api/v1/namespaces/${ns}/configmaps`, { timeoutSeconds: 1 }, (type) => void types.push(type), resolve)
        .catch(reject);
    });
    await core.createNamespacedConfigMap({ namespace: ns, body: { metadata: { name: 'a' } } });
    await ended;
    expect(types).toEqual(['ADDED']);
  });
});
