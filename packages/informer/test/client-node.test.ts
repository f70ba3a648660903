import { defineKind } from '@kctl/apimachinery';
import { NetworkPolicy } from '@kctl/apimachinery/kinds/networking.k8s.io/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { mergeFrom } from '@kctl/client';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { CoordinationV1Api, CoreV1Api, KubeConfig, NetworkingV1Api } from '@kubernetes/client-node';
import type { V1ConfigMap, V1NetworkPolicy, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, expectTypeOf, it } from 'vitest';
import { jsonOf, listerWatcherFromClientNode, type JsonOf } from '../src/client-node/index.js';
import { createSharedInformer } from '../src/index.js';

let environment: TestEnvironment;
let kubeConfig: KubeConfig;

beforeAll(async () => {
  environment = await createEnvironment();
  kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(environment.kubeconfigPath);
});
afterAll(() => environment.stop());

const at = new Date('2026-01-02T03:04:05Z');
const containers = [{ name: 'main', image: 'nginx' }];

it('lists and watches a kind with a KubeConfig', async () => {
  const namespace = await environment.createNamespace('bridge');
  const api = kubeConfig.makeApiClient(CoreV1Api);
  await api.createNamespacedPod({ namespace, body: { metadata: { name: 'first' }, spec: { containers } } });
  const informer = createSharedInformer({
    kind: Pod,
    listerWatcher: listerWatcherFromClientNode(kubeConfig, Pod, { namespace }),
  });
  const stop = new AbortController();
  const seen: string[] = [];
  const both = new Promise<void>((resolve) => {
    informer.addEventHandler({
      onAdd: ({ metadata }) => {
        expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        seen.push(metadata.name);
        if (seen.length === 2) resolve();
      },
    });
  });
  const running = informer.run(stop.signal);
  await informer.waitForSync();
  await api.createNamespacedPod({ namespace, body: { metadata: { name: 'second' }, spec: { containers } } });
  await both;
  expect(seen).toEqual(['first', 'second']);
  stop.abort();
  await running;
});

it('refuses a KubeConfig without a context, and an unknown option, when it is called', () => {
  expect(() => listerWatcherFromClientNode(new KubeConfig(), Pod)).toThrow('current-context is not set');
  const scope = { namspace: 'shop' };
  expect(() => listerWatcherFromClientNode(kubeConfig, Pod, scope as never)).toThrow('did you mean "namespace"');
});

it('gives models the JSON form that clients write', async () => {
  const namespace = await environment.createNamespace('models');
  const api = kubeConfig.makeApiClient(CoreV1Api);
  const model: V1Pod = { metadata: { namespace, name: 'model', creationTimestamp: at }, spec: { containers } };
  const created = await environment.client.create(Pod, jsonOf(Pod, model));
  const read = await api.readNamespacedPod({ namespace, name: 'model' });
  expect(read.metadata?.creationTimestamp).toBeInstanceOf(Date);
  const json = jsonOf(Pod, read);
  expect(json.metadata.creationTimestamp).toBe(created.metadata.creationTimestamp);
  const changed = { ...json, metadata: { ...json.metadata, labels: { seen: 'yes' } } };
  await environment.client.patch(Pod, { namespace, name: 'model' }, mergeFrom(json, changed));
  const updated = await environment.client.update(
    Pod,
    jsonOf(Pod, await api.readNamespacedPod({ namespace, name: 'model' })),
  );
  expect(updated.metadata.labels).toEqual({ seen: 'yes' });
});

it('names fields as the API does, in models that were read and in literals', async () => {
  const namespace = await environment.createNamespace('names');
  const policy: V1NetworkPolicy = {
    metadata: { namespace, name: 'policy' },
    spec: { podSelector: {}, ingress: [{ _from: [{ podSelector: {} }] }] },
  };
  await environment.client.create(NetworkPolicy, jsonOf(NetworkPolicy, policy));
  const read = await kubeConfig
    .makeApiClient(NetworkingV1Api)
    .readNamespacedNetworkPolicy({ namespace, name: 'policy' });
  expect(read.spec?.ingress).toMatchObject([{ _from: [{}] }]);
  expect(jsonOf(NetworkPolicy, read).spec?.ingress).toMatchObject([{ from: [{ podSelector: {} }] }]);

  const map: V1ConfigMap = { metadata: { namespace, name: 'map' }, data: { _from: 'a', x_kubernetes_b: 'c' } };
  expect((await environment.client.create(ConfigMap, jsonOf(ConfigMap, map))).data).toEqual(map.data);
});

it('keeps the microseconds of a Lease', async () => {
  const namespace = await environment.createNamespace('lease');
  const renewTime = '2026-01-02T03:04:05.123456Z';
  await environment.client.create(Lease, { metadata: { namespace, name: 'lease' }, spec: { renewTime } });
  const read = await kubeConfig.makeApiClient(CoordinationV1Api).readNamespacedLease({ namespace, name: 'lease' });
  expect(jsonOf(Lease, read).spec?.renewTime).toBe(renewTime);
});

it('refuses a Date that is not valid with its path, and what is not a model', () => {
  const model: V1Pod = {
    metadata: { name: 'a' },
    status: { conditions: [{ type: 'Ready', status: 'True', lastProbeTime: new Date(Number.NaN) }] },
  };
  expect(() => jsonOf(Pod, model)).toThrow(
    'jsonOf: status.conditions[0].lastProbeTime of the model is a Date that is not valid',
  );
  for (const value of [undefined, null, 'pod', at, [model]])
    expect(() => jsonOf(Pod, value as never)).toThrow(
      'jsonOf Pod: the model has no metadata: expected one such as a V1Pod',
    );
  expect(() => jsonOf(ConfigMap, { kind: 'Pod', metadata: {} })).toThrow(
    'kind of the model is "Pod": expected "ConfigMap"',
  );
});

it('is a type for kinds', () => {
  type ModelPod = JsonOf<V1Pod>;
  const ModelPod = defineKind<ModelPod>()({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });
  expectTypeOf<ModelPod['metadata']['creationTimestamp']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<NonNullable<ModelPod['status']>['startTime']>().toEqualTypeOf<string | undefined>();
  expect(ModelPod.apiVersion).toBe('v1');
  // @ts-expect-error a model has Dates, and its metadata may be missing
  defineKind<V1Pod>();
});
