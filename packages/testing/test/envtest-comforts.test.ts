// What envtest offers beside a server: flags, users with fewer rights, definitions that go, conversion that comes here. On the
// embedded server; with KCTL_TEST_SERVER=real on kube-apiserver and etcd.
import { createServer } from 'node:https';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineKind, isForbidden, isNotFound, type KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap, Namespace, Service } from '@kctl/apimachinery/kinds/core/v1';
import { ClusterRole, ClusterRoleBinding } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { createHttpClient, loadConnection } from '@kctl/client-http';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createEnvironment, EnvironmentStartError, eventually, installCrds, uninstallCrds } from '../src/index.js';
import type { TestEnvironment } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({
    embedded: { authorization: 'RBAC' },
    real: {
      apiServerFlags: ['--service-cluster-ip-range=10.9.0.0/24'],
      etcdFlags: ['--max-request-bytes=20000'],
      tokens: [{ token: 'secret-of-jim', user: 'jim', groups: ['system:masters'] }],
    },
  });
});
afterAll(async () => await environment.stop());

it('starts the components with flags of the test, which win over its own', async () => {
  const { client, server, connection } = environment;
  // The embedded one has options instead.
  if (server === 'embedded') return;
  const { spec } = await client.get(Service, { namespace: 'default', name: 'kubernetes' });
  expect(spec?.clusterIP).toBe('10.9.0.1');
  const large = { metadata: { namespace: 'default', name: 'large' }, data: { text: 'x'.repeat(30_000) } };
  const refused: unknown = await client.create(ConfigMap, large).catch((error: unknown) => error);
  expect(String(refused)).toMatch(/request is too large/i);
  await using jim = createHttpClient({ connection: { ...connection, user: { token: 'secret-of-jim' } } });
  expect((await jim.list(Namespace)).items.length).toBeGreaterThan(0);
});

it('gives up a start at the time-out of the environment', async () => {
  // The embedded one starts at once.
  if (environment.server === 'embedded') return;
  const dataDir = await mkdtemp(join(tmpdir(), 'kctl-late-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const variable = 'KUBEBUILDER_CONTROLPLANE_START_TIMEOUT';
  const before = process.env[variable];
  process.env[variable] = '300ms';
  try {
    const failure: unknown = await createEnvironment({ server: 'real', real: { dataDir } }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(EnvironmentStartError);
    expect(String(failure)).toContain('0.3');
  } finally {
    if (before === undefined) delete process.env[variable];
    else process.env[variable] = before;
  }
});

it('adds a user whose rights are those of its groups, by client and by kubeconfig', async () => {
  const { client } = environment;
  await client.create(ClusterRole, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  });
  await client.create(ClusterRoleBinding, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'Group', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const user = await environment.addUser({ name: 'jane', groups: ['readers'] });
  await eventually(() => user.client.list(ConfigMap, { namespace: 'default' }));
  const denied: unknown = await user.client
    .create(ConfigMap, { metadata: { namespace: 'default', name: 'a' } })
    .catch((error: unknown) => error);
  expect(isForbidden(denied) && String(denied)).toContain('jane');
  await using other = createHttpClient({ connection: await loadConnection({ path: user.kubeconfigPath }) });
  expect((await other.list(ConfigMap, { namespace: 'default' })).items).toEqual([]);
  const stranger = await environment.addUser({ name: 'joe' });
  expect(stranger.kubeconfigPath).not.toBe(user.kubeconfigPath);
  expect(await stranger.client.list(ConfigMap).catch(isForbidden)).toBe(true);
  await expect(environment.addUser({ name: '' })).rejects.toThrow('addUser: name "" is not valid');
});

interface Widget extends KubeObject {
  spec?: { size?: number; width?: number };
}
const widgetKind = (version: string) =>
  defineKind<Widget>()({ group: 'ex.io', version, kind: 'Widget', scope: 'Namespaced' });

it('deletes definitions with their objects and waits until they are gone', async () => {
  const Widget = widgetKind('v1');
  await environment.installCrds([Widget]);
  await environment.client.create(Widget, { metadata: { namespace: 'default', name: 'w' } });
  await environment.uninstallCrds([Widget]);
  const gone = environment.client.get(CustomResourceDefinition, { name: 'widgets.ex.io' }).catch(isNotFound);
  expect(await gone).toBe(true);
  await uninstallCrds(environment.client, { metadata: { name: 'widgets.ex.io' } } as CustomResourceDefinition);
});

it('installs definitions from YAML, and deletes those that it names', async () => {
  const { client } = environment;
  const text = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.ex.io}
spec:
  group: ex.io
  scope: Cluster
  names: {kind: Gear, plural: gears}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: passed-over}
`;
  const Gear = defineKind<KubeObject>()({ group: 'ex.io', version: 'v1', kind: 'Gear', scope: 'Cluster' });
  await installCrds(client, text);
  await client.create(Gear, { metadata: { name: 'g' } });
  await installCrds(client, [text]);
  expect((await client.list(Gear)).items).toHaveLength(1);
  await uninstallCrds(client, text);
  expect(await client.get(CustomResourceDefinition, { name: 'gears.ex.io' }).catch(isNotFound)).toBe(true);
  await expect(installCrds(client, 'kind: ConfigMap\n')).rejects.toThrow('there is no CustomResourceDefinition');
  await expect(installCrds(client, 7 as never)).rejects.toThrow(
    'crds: expected a CustomResourceDefinition, a kind, a path or YAML',
  );
});

it('cleans up definitions of the environment at its stop, and users with it', async () => {
  const Gadget = defineKind<KubeObject>()({ group: 'ex.io', version: 'v1', kind: 'Gadget', scope: 'Cluster' });
  const mine = await createEnvironment({ crds: [Gadget], cleanUpCrds: true });
  const { kubeconfigPath, client } = await mine.addUser({ name: 'jane', groups: ['system:masters'] });
  const seen: string[] = [];
  const watch = await client.watch(CustomResourceDefinition, { resourceVersion: '0' });
  const reading = (async () => {
    for await (const event of watch) {
      seen.push(event.type);
      if (event.type === 'DELETED') return;
    }
  })().catch(() => undefined);
  await mine.stop();
  await reading;
  expect(seen).toContain('DELETED');
  await expect(access(kubeconfigPath)).rejects.toThrow();
});

it('has conversion come to the server of the test', async () => {
  const { host, port, certDir } = await environment.prepareWebhooks();
  const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => readFile(join(certDir, name))));
  const server = createServer({ cert, key }, (request, response) => {
    void (async () => {
      const review = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as ConversionReview;
      const { uid, objects, desiredAPIVersion } = review.request;
      const convertedObjects = objects.map((object) => ({
        ...object,
        apiVersion: desiredAPIVersion,
        spec: { width: 7 },
      }));
      const answer = {
        ...review,
        response: { uid, convertedObjects, result: { status: 'Success' } },
        request: undefined,
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...answer, path: request.url }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
  const definition: CustomResourceDefinition = {
    metadata: { name: 'widgets.ex.io' },
    spec: {
      group: 'ex.io',
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'system', name: 'operator', path: '/convert-here' } },
        },
      },
    },
  };
  await environment.installConversion([definition]);
  const { spec } = await environment.client.get(CustomResourceDefinition, { name: 'widgets.ex.io' });
  expect(spec.conversion?.webhook?.clientConfig?.url).toBe(`https://127.0.0.1:${port}/convert-here`);
  await environment.client.create(widgetKind('v1'), {
    metadata: { namespace: 'default', name: 'w' },
    spec: { size: 7 },
  });
  const converted = await environment.client.get(widgetKind('v2'), { namespace: 'default', name: 'w' });
  expect(converted.spec).toEqual({ width: 7 });
});

interface ConversionReview {
  readonly request: { readonly uid: string; readonly objects: readonly object[]; readonly desiredAPIVersion: string };
}
