import { formatKey } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Service } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger, reconcileObject, type ReconcileContext } from '@kctl/runtime';
import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { systemClock } from '@kctl/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Application, applicationCrd } from '@kctl/example-application-operator/application.js';
import { createDirectory } from '@kctl/example-application-operator/directory.js';
import { createApplicationReconciler } from '@kctl/example-application-operator/reconciler.js';
import { inspect } from '../src/operator/oracle.js';

const namespace = 'default';
const spec = { image: 'it:1', replicas: 2, port: 8080 };

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded', crds: [applicationCrd] });
});
afterAll(() => environment.stop());

interface Scene {
  readonly key: { readonly namespace: string; readonly name: string };
  readonly directory: Map<string, string>;
  readonly wanted: Map<string, typeof spec>;
  findings(): Promise<string[]>;
}

/** One Application, reconciled, and what the oracle says of it. */
async function stage(name: string): Promise<Scene> {
  const { client } = environment;
  const key = { namespace, name };
  const directory = new Map<string, string>();
  const wanted = new Map([[formatKey(key), spec]]);
  await client.create(Application, { metadata: key, spec });
  const nobody = (): void => undefined;
  const reconcile = reconcileObject({
    client,
    kind: Application,
    fieldOwner: 'application-operator',
    ...createApplicationReconciler({
      directory: createDirectory(directory),
      clock: systemClock,
      events: { event: nobody, normal: nobody, warning: nobody },
    }),
  });
  await reconcile(key, { signal: new AbortController().signal, logger: noopLogger } as ReconcileContext);
  const findings = async (): Promise<string[]> =>
    (await inspect(client, { namespaces: [namespace], wanted, directory }))
      .filter((finding) => finding.key === formatKey(key))
      .map(({ message }) => message);
  expect(await findings()).toEqual([]);
  return { key, directory, wanted, findings };
}

const merge = (body: object): { readonly type: 'merge'; readonly body: object } => ({ type: 'merge', body });

it.each<[string, RegExp, (scene: Scene) => Promise<unknown>]>([
  [
    'a spec that was lost',
    /^spec is/,
    ({ key }) => environment.client.patch(Application, key, merge({ spec: { replicas: 3 } })),
  ],
  [
    'a status of an older generation',
    /^status.observedGeneration is 1 instead of 2/,
    ({ key }) => environment.client.patch(Application, key, merge({ spec: { replicas: 3 } })),
  ],
  [
    'a Deployment that was tampered with',
    /^replicas is 9 instead of 2/,
    ({ key }) => environment.client.patch(Deployment, key, merge({ spec: { replicas: 9 } })),
  ],
  [
    'a Service that was deleted',
    /^the number of Services is 0 instead of 1/,
    ({ key }) => environment.client.delete(Service, key),
  ],
  [
    'a condition that is not so',
    /^condition Available is "False" instead of "True"/,
    ({ key }) => environment.client.status(Deployment).patch(key, merge({ status: { replicas: 2, readyReplicas: 2 } })),
  ],
  [
    'a finalizer that is missing',
    /^the finalizer is missing/,
    ({ key }) => environment.client.patch(Application, key, merge({ metadata: { finalizers: null } })),
  ],
  [
    'an Application that was deleted and stays',
    /^the Application is stuck in deletion/,
    ({ key }) => environment.client.delete(Application, key),
  ],
  [
    'an Application that nobody wants',
    /^the Application is there though it was deleted/,
    async ({ wanted }) => wanted.clear(),
  ],
  ['an entry that is missing', /^its entry in the directory is unset/, async ({ directory }) => directory.clear()],
  [
    'an entry of somebody who is gone',
    /^its entry in the directory was never removed/,
    async ({ key, wanted }) => {
      await environment.client.patch(Application, key, merge({ metadata: { finalizers: null } }));
      await environment.client.delete(Application, key);
      wanted.clear();
    },
  ],
  [
    'an Application that was lost',
    /^the Application is missing/,
    async ({ key }) => {
      await environment.client.patch(Application, key, merge({ metadata: { finalizers: null } }));
      await environment.client.delete(Application, key);
    },
  ],
  [
    'an orphan',
    /^the Service is an orphan/,
    ({ key }) => environment.client.patch(Service, key, merge({ metadata: { ownerReferences: null } })),
  ],
  [
    'a second Service',
    /^the number of Services is 2 instead of 1/,
    async ({ key }) => {
      const { metadata, spec: { ports } = {} } = await environment.client.get(Service, key);
      const twin = {
        metadata: { namespace, name: `${key.name}-twin`, ownerReferences: metadata.ownerReferences },
        spec: { ports },
      };
      await environment.client.create(Service, twin as Service);
    },
  ],
])('finds %s', async (_name, expected, tamper) => {
  const scene = await stage(`case-${Math.random().toString(36).slice(2, 10)}`);
  await tamper(scene);
  expect((await scene.findings()).filter((message) => expected.test(message))).toHaveLength(1);
});

it('has nothing to say of other kinds', async () => {
  const scene = await stage('quiet');
  await environment.client.create(ConfigMap, { metadata: { namespace, name: 'quiet' } });
  expect(await scene.findings()).toEqual([]);
});
