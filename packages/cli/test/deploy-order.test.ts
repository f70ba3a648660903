// A deployment that ends early: what is written by then breaks no request of clients that were there before.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineKind } from '@kctl/apimachinery';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Namespace, Pod, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { ClusterRole } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { createEnvironment, eventually, installCrds, type TestEnvironment } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../src/deploy/wait-for.js';
import { kctl, project } from './project.js';

const namespace = 'websites-system';
const crd = { name: 'websites.example.com' };
const Website = defineKind()({ group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' });
const certManager = ['Issuer', 'Certificate'].map((kind) => ({
  apiVersion: 'apiextensions.k8s.io/v1' as const,
  kind: 'CustomResourceDefinition' as const,
  metadata: { name: `${kind.toLowerCase()}s.cert-manager.io` },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced' as const,
    names: { kind, plural: `${kind.toLowerCase()}s` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}));

let environment: TestEnvironment;
let cluster: readonly string[];
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded', embedded: { authorization: 'RBAC' } });
  cluster = ['--kubeconfig', environment.kubeconfigPath];
});
afterAll(async () => await environment[Symbol.asyncDispose]());

/** The fixture with a second version, which is stored, and a converter. */
function twoVersions(): string {
  const folder = project();
  const main = join(folder, 'src', 'main.ts');
  const text = readFileSync(main, 'utf8')
    .replace(
      '  versions: {\n',
      '  versions: {\n    v2: { storage: true, spec: z.object({ page: z.string() }), status: z.object({ url: z.string().optional() }) },\n',
    )
    .replace('spec.html }', 'spec.page }')
    .replace("spec.html === 'no'", "spec.page === 'no'")
    .replace('      .complete();', '      .withConverter((object) => object)\n      .complete();');
  writeFileSync(main, text);
  return folder;
}

const storage = async (): Promise<string | undefined> =>
  (await environment.client.get(CustomResourceDefinition, crd)).spec.versions.find(({ storage: is }) => is)?.name;

it('writes nothing without cert-manager, and names all that is missing', async () => {
  for (const folder of [project(), twoVersions()]) {
    const refused = await kctl(folder, 'deploy', ...cluster);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toMatch(
      /^kctl: nothing was changed: issuer\/websites-webhook in .* cannot be applied: .*: install cert-manager.*; certificate\/websites-webhook in /,
    );
  }
  expect((await environment.client.list(CustomResourceDefinition)).items).toEqual([]);
  const namespaces = (await environment.client.list(Namespace)).items.map(({ metadata }) => metadata.name);
  expect(namespaces).not.toContain(namespace);
});

it('neither takes over nor deletes a ClusterRole of others that has the name of the operator', async () => {
  const { client } = environment;
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  await client.create(ClusterRole, { metadata: { name: 'websites', labels: { team: 'platform' } }, rules });
  for (const more of [[], ['--dry-run']]) {
    const refused = await kctl(project(), 'deploy', ...more, ...cluster);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain(
      'kctl: nothing was changed: clusterrole/websites exists and is not of the operator "websites" (without the labels app.kubernetes.io/name=websites, app.kubernetes.io/managed-by=kctl, or not readable): choose another name',
    );
  }
  const left = await kctl(project(), 'undeploy', ...cluster);
  expect(left).toMatchObject({ code: 0 });
  expect(left.err).toContain('kept clusterrole/websites: it is not of the operator, or may not be read\n');
  expect((await client.get(ClusterRole, { name: 'websites' })).rules).toEqual(rules);
  await client.delete(ClusterRole, { name: 'websites' });
});

it('keeps the storage version and calls no webhook until the operator is available', async () => {
  const { client } = environment;
  expect(await kctl(project(), 'install', ...cluster)).toMatchObject({ code: 0 });
  await client.create(Website, { metadata: { namespace: 'default', name: 'old' }, spec: { html: 'x' } });
  await installCrds(client, certManager);
  const folder = twoVersions();
  expect((await kctl(folder, 'install', ...cluster)).err).toContain(
    'kept the storage version of customresourcedefinition/websites.example.com, since objects of the new one need',
  );
  const early = await kctl(folder, 'deploy', '--timeout', '0.1', ...cluster);
  expect(early.err).toMatch(
    /deployment\/websites in .* is not available after 0.1 s: .*: waiting for secret\/websites-webhook-certificate, which cert-manager makes: see/,
  );
  expect(await storage()).toBe('v1');
  expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  // Clients of the version that was there before are not affected.
  await client.patch(Website, { namespace: 'default', name: 'old' }, { type: 'merge', body: { spec: { html: 'y' } } });
  expect((await client.list(Website)).items).toHaveLength(1);

  await client.create(Secret, { metadata: { namespace, name: 'websites-webhook-certificate' } });
  const labels = { 'app.kubernetes.io/name': 'websites' };
  const pod = { namespace, name: 'websites-a' };
  await client.create(Pod, {
    metadata: { ...pod, labels },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 1, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'operator',
          image: 'websites',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  });
  const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
  const container = { name: 'operator', image: 'websites', imageID: '', ready: false, restartCount: 0 };
  await client.status(Pod).patch(pod, {
    type: 'merge',
    body: { status: { containerStatuses: [{ ...container, state: { waiting } }] } },
  });
  expect((await kctl(folder, 'deploy', '--timeout', '0.1', ...cluster)).err).toContain(
    'waiting for pod/websites-a: ImagePullBackOff: no such image: see',
  );

  const available = eventually(async () => {
    const { metadata } = await client.get(Deployment, { namespace, name: 'websites' });
    const status = { observedGeneration: metadata.generation, replicas: 2, readyReplicas: 2, availableReplicas: 2 };
    await client.status(Deployment).patch({ namespace, name: 'websites' }, { type: 'merge', body: { status } });
  });
  const [deployed] = await Promise.all([kctl(folder, 'deploy', ...cluster), available]);
  expect(deployed, deployed.err).toMatchObject({ code: 0 });
  expect(await storage()).toBe('v2');
  expect((await client.list(ValidatingWebhookConfiguration)).items).toHaveLength(1);
});

it('prints every few seconds what is waited for', async () => {
  const clock = new FakeClock();
  const printed: string[] = [];
  let calls = 0;
  const waiting = waitFor({
    io: { err: (text) => void printed.push(text), signal: new AbortController().signal },
    timeoutMs: 12_000,
    clock,
    isDone: async () => {
      calls++;
      return Promise.resolve(false);
    },
    progress: () => '0 of 2 ready: waiting for pods',
    late: (seconds) => `late after ${seconds} s`,
  });
  const outcome = expect(waiting).rejects.toThrow('late after 12 s');
  await clock.advance(13_000);
  await outcome;
  expect(printed).toEqual(['0 of 2 ready: waiting for pods\n', '0 of 2 ready: waiting for pods\n']);
  expect(calls).toBeGreaterThan(10);
});
