import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineKind } from '@kctl/apimachinery';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import { ClusterRole } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import { createEnvironment, eventually, installCrds, type TestEnvironment } from '@kctl/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDevRecord } from '../src/dev/dev-record.js';
import { kctl, kctlUntil, kctlWith, project } from './project.js';

const Website = defineKind()({ group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' });
const anything = { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true };
const certManager = ['Issuer', 'Certificate'].map((kind) => ({
  apiVersion: 'apiextensions.k8s.io/v1' as const,
  kind: 'CustomResourceDefinition' as const,
  metadata: { name: `${kind.toLowerCase()}s.cert-manager.io` },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced' as const,
    names: { kind, plural: `${kind.toLowerCase()}s` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: anything } }],
  },
}));
const namespace = 'websites-system';

let environment: TestEnvironment;
let cluster: readonly string[];
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded', embedded: { authorization: 'RBAC' } });
  cluster = ['--kubeconfig', environment.kubeconfigPath];
});
afterEach(() => environment.embedded?.faults.clear());
afterAll(async () => await environment[Symbol.asyncDispose]());

/** Refuses requests for one resource, as a policy of the cluster may. */
function refuse(resource: string, verb: 'patch' | 'delete', nth?: number): void {
  const match = { resource, verb, ...(nth === undefined ? {} : { nth }) };
  const action = { type: 'status', code: 422, reason: 'Invalid', message: 'refused by a policy' } as const;
  environment.embedded?.faults.add({ match, action });
}

/** What a kubelet would bring about. */
async function makeAvailable(more: object = {}): Promise<void> {
  const key = { namespace, name: 'websites' };
  await eventually(async () => {
    const { metadata } = await environment.client.get(Deployment, key);
    const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2 };
    const status = { observedGeneration: metadata.generation, ...counts, ...more };
    await environment.client.status(Deployment).patch(key, { type: 'merge', body: { status } });
  });
}

describe('a command that fails in the middle', () => {
  it('names the object, keeps what was applied, and goes on when it is run again', async () => {
    const folder = project();
    const lost = await kctl(folder, 'deploy', ...cluster);
    expect(lost).toMatchObject({ code: 1 });
    expect(lost.err).toMatch(
      /kctl: nothing was changed: issuer\/websites-webhook in websites-system cannot be applied: .*: install cert-manager/,
    );
    await installCrds(environment.client, certManager);
    const { out } = await kctl(folder, 'deploy', '--dry-run', '--json', ...cluster);
    const { dryRun, changes } = JSON.parse(out) as { dryRun: boolean; changes: object[] };
    expect(dryRun).toBe(true);
    expect(changes[0]).toEqual({ action: 'applied', apiVersion: 'v1', kind: 'Namespace', name: namespace });
    expect(changes).toContainEqual({
      // Without its namespace, which a dry run does not create, the server cannot judge it.
      action: 'skipped',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace,
      name: 'websites',
    });

    // The first request is the dry run before all writes.
    refuse('deployments', 'patch', 2);
    const refused = await kctl(folder, 'deploy', ...cluster);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toMatch(
      /kctl: deployment\/websites in websites-system cannot be applied: refused by a policy\n$/,
    );
    expect((await environment.client.get(ServiceAccount, { namespace, name: 'websites' })).metadata.name).toBe(
      'websites',
    );

    environment.embedded?.faults.clear();
    const late = await kctl(folder, 'deploy', '--timeout', '0.3', ...cluster);
    expect(late.err).toMatch(
      /deployment\/websites in websites-system is not available after 0.3 s: 0 of 2 replicas are available.*: see kubectl describe pods --namespace websites-system\n$/,
    );
    const [deployed] = await Promise.all([kctl(folder, 'deploy', ...cluster), makeAvailable()]);
    expect(deployed, deployed.err).toMatchObject({ code: 0 });
    expect(deployed.err).toContain('available deployment/websites\n');
    // The old version stays available while the new one does not start.
    const conditions = [{ type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' }];
    for (const counts of [{ replicas: 2 }, { replicas: 3, updatedReplicas: 1 }]) {
      await makeAvailable({ ...counts, conditions });
      expect((await kctl(folder, 'deploy', '--timeout', '0.3', ...cluster)).err).toMatch(
        /is not available after 0.3 s: 2 of 2 replicas are available, not all of them of the new version: .*: see/,
      );
    }
    await makeAvailable({ replicas: 2, updatedReplicas: 2, conditions });
    expect(await kctl(folder, 'deploy', ...cluster)).toMatchObject({ code: 0 });

    // A version without webhooks: nothing would answer the configuration, which fails closed.
    const bare = project();
    const main = join(bare, 'src', 'main.ts');
    const without = readFileSync(main, 'utf8').replace(/webhookManagedBy\(manager\)\s[^]*?\.complete\(\);/, '');
    writeFileSync(main, without);
    expect((await kctl(bare, 'doctor', ...cluster)).out).toContain(
      'problem  webhook    websites-validating is of an earlier version, and the code has no such webhooks',
    );
    const dry = await kctl(bare, 'deploy', '--dry-run', ...cluster);
    expect(dry.err).toContain('deleted validatingwebhookconfiguration/websites-validating (dry run)\n');
    expect((await environment.client.list(ValidatingWebhookConfiguration)).items).toHaveLength(1);
    const next = await kctl(bare, 'deploy', '--timeout', '0.3', ...cluster);
    expect(next.err).toContain('deleted validatingwebhookconfiguration/websites-validating\n');
    expect((await environment.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);

    const names = async (): Promise<string[]> =>
      (await environment.client.list(ClusterRole)).items.flatMap(({ metadata }) =>
        metadata.name.startsWith('websites') ? [metadata.name] : [],
      );
    refuse('clusterroles', 'delete');
    const half = await kctl(folder, 'undeploy', ...cluster);
    expect(half.err).toMatch(/kctl: clusterrole\/websites cannot be deleted: refused by a policy\n$/);
    expect(await names()).toEqual(['websites']);
    environment.embedded?.faults.clear();
    expect(await kctl(folder, 'undeploy', ...cluster)).toMatchObject({ code: 0 });
    expect(await names()).toEqual([]);
    expect((await environment.client.list(CustomResourceDefinition)).items.map(({ spec }) => spec.group)).not.toContain(
      'example.com',
    );
  });

  it('names the object that is stuck, and its finalizers; Ctrl-C ends the wait', async () => {
    const folder = project();
    expect(await kctl(folder, 'install', ...cluster)).toMatchObject({ code: 0 });
    const key = { namespace: 'default', name: 'stuck' };
    await environment.client.create(Website, {
      metadata: { ...key, finalizers: ['example.com/cleanup'] },
      spec: { html: 'x' },
    });
    const given = ['uninstall', '--delete-objects', ...cluster];
    expect(await kctl(folder, ...given, '--timeout', '0.3')).toMatchObject({
      code: 1,
      err: 'kctl: website/stuck in default is not gone after 0.3 s: finalizers example.com/cleanup keep it: is the operator that removes them running?\n',
    });
    expect(await kctlUntil(AbortSignal.timeout(300), folder, ...given)).toEqual({ code: 130, out: '', err: '' });
    await environment.client.patch(Website, key, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(await kctl(folder, ...given)).toMatchObject({ code: 0 });
  });

  it('does not mind what is not there', async () => {
    for (const command of ['uninstall', 'undeploy'])
      expect(await kctl(project(), command, ...cluster)).toEqual({ code: 0, out: '', err: '' });
  });

  it('says why a kind is not established', async () => {
    const folder = project();
    const main = join(folder, 'src', 'main.ts');
    expect(await kctl(folder, 'install', ...cluster)).toMatchObject({ code: 0 });
    writeFileSync(main, readFileSync(main, 'utf8').replace("kind: 'Website',", "kind: 'Website',\n  plural: 'pages',"));
    const other = project();
    writeFileSync(join(other, 'src', 'main.ts'), readFileSync(main, 'utf8'));
    const conflict = await kctl(other, 'install', '--timeout', '0.3', ...cluster);
    expect(conflict.err).toMatch(
      /customresourcedefinition\/pages.example.com is not established after 0.3 s: .*"Website.*" is already in use/,
    );
    expect(await kctl(other, 'uninstall', ...cluster)).toMatchObject({ code: 0 });
    expect(await kctl(project(), 'uninstall', ...cluster)).toMatchObject({ code: 0 });
  });
});

describe('the namespace of an operator', () => {
  const key = { name: namespace };
  const labelsOf = async () => (await environment.client.get(Namespace, key)).metadata.labels ?? {};
  const config = { metadata: { namespace, name: 'of-others' } };
  const undeploy = async (...more: string[]) => await kctl(project(), 'undeploy', ...more, ...cluster);
  const deploy = async () => await kctl(project(), 'deploy', '--timeout', '0.1', ...cluster);
  const removed = async () => {
    await environment.client.delete(Namespace, key);
    await eventually(async () => {
      expect((await environment.client.list(Namespace)).items.map(({ metadata }) => metadata.name)).not.toContain(
        namespace,
      );
    });
  };

  it.each([{}, { 'kctl.dev/created-for': 'websites' }])(
    'that was there before is neither relabelled nor deleted with what others have in it: %j',
    async (annotations) => {
      await installCrds(environment.client, certManager);
      await environment.client.create(Namespace, { metadata: { ...key, annotations } });
      await environment.client.create(ConfigMap, config);
      const deployed = await deploy();
      const isForged = Object.keys(annotations).length > 0;
      if (!isForged) {
        expect(deployed.err).toContain(`kept namespace/${namespace}: it was there before, and its labels stay\n`);
        expect(await labelsOf()).not.toHaveProperty(['pod-security.kubernetes.io/enforce']);
      }
      const gone = await undeploy();
      expect(gone, gone.err).toMatchObject({ code: 0 });
      expect(gone.err).toContain(
        isForged
          ? `kept namespace/${namespace}: it contains an object of others: configmap/of-others\n`
          : `kept namespace/${namespace}: kctl deploy did not create it\n`,
      );
      expect(
        (await environment.client.get(ConfigMap, { namespace, name: 'of-others' })).metadata.deletionTimestamp,
      ).toBeUndefined();
      await removed();
    },
  );

  it('that deploy has created goes with the operator, once it contains nothing of others', async () => {
    await installCrds(environment.client, certManager);
    await deploy();
    expect(await labelsOf()).toHaveProperty(['pod-security.kubernetes.io/enforce'], 'restricted');
    expect((await undeploy('--dry-run')).err).toContain(`deleted namespace/${namespace} (dry run)\n`);
    await environment.client.create(ConfigMap, config);
    const owner = { apiVersion: 'example.com/v1', kind: 'Tenant', name: 'a', uid: 'elsewhere' };
    const foreign = { metadata: { namespace, name: 'of-a-cluster-object', ownerReferences: [owner] } };
    await environment.client.create(ConfigMap, foreign);
    await environment.client.create(Secret, { metadata: { namespace, name: 'websites-webhook-signing-key' } });
    expect((await undeploy('--dry-run')).err).toMatch(
      /kept namespace\/.*: it contains 3 objects of others: configmap\/of-a-cluster-object, configmap\/of-others, secret\/websites-webhook-signing-key/,
    );
    await environment.client.delete(ConfigMap, foreign.metadata);
    await environment.client.delete(Secret, { namespace, name: 'websites-webhook-signing-key' });
    const kept = JSON.parse((await undeploy('--json')).out) as { changes: { action: string; kind: string }[] };
    expect(kept.changes.at(-1)).toMatchObject({ action: 'kept', kind: 'Namespace', name: namespace });
    await environment.client.delete(ConfigMap, { namespace, name: 'of-others' });
    expect((await undeploy()).err).toContain(`deleted namespace/${namespace}\n`);
  });
});

describe('what a kctl dev that was killed has left', () => {
  const mark = { 'kctl.dev/dev-session': 'one' };
  const configuration = { name: 'websites-validating' };

  it('is restored by install and deploy by the record of this machine, not by a dry run', async () => {
    const { client } = environment;
    const state = mkdtempSync(join(tmpdir(), 'kctl-state-'));
    try {
      const here = { XDG_STATE_HOME: state };
      const record = openDevRecord(here);
      const webhooks: ValidatingWebhookConfiguration['webhooks'] = [];
      const { metadata } = await client.create(ValidatingWebhookConfiguration, {
        metadata: { ...configuration, annotations: mark },
        webhooks,
      });
      record.note(metadata.uid, { session: 'one', original: 'absent' });
      expect((await kctlWith(here, project(), 'install', '--dry-run', ...cluster)).err).not.toContain('restored');
      expect((await kctlWith(here, project(), 'install', ...cluster)).err).toContain(
        'restored validatingwebhookconfiguration/websites-validating',
      );
      expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
      expect(record.find(metadata.uid)).toBeUndefined();
    } finally {
      rmSync(state, { recursive: true, force: true });
      expect(await kctl(project(), 'uninstall', ...cluster)).toMatchObject({ code: 0 });
    }
  });

  it('leads to no deletion by annotations that anyone may write', async () => {
    const { client } = environment;
    const forged = { ...mark, 'kctl.dev/before-dev': '"absent"' };
    const crd = { name: 'websites.example.com' };
    expect(await kctl(project(), 'install', ...cluster)).toMatchObject({ code: 0 });
    const { metadata } = await client.get(CustomResourceDefinition, crd);
    await client.patch(CustomResourceDefinition, crd, { type: 'merge', body: { metadata: { annotations: forged } } });
    const other = await client.create(ValidatingWebhookConfiguration, {
      metadata: { ...configuration, annotations: forged },
      webhooks: [],
    });
    const state = mkdtempSync(join(tmpdir(), 'kctl-state-'));
    try {
      const here = { XDG_STATE_HOME: state };
      // Of an object that had this name before.
      openDevRecord(here).note('another-uid', { session: 'one', original: 'absent' });
      // A definition is never deleted, whatever a record contains.
      openDevRecord(here).note(metadata.uid, { session: 'one', original: 'absent' });
      const first = await kctlWith(here, project(), 'install', ...cluster);
      expect(first).toMatchObject({ code: 0 });
      expect(first.err).toContain(
        'validatingwebhookconfiguration/websites-validating is marked as changed by kctl dev on another machine and was not restored',
      );
      expect((await kctl(project(), 'install', ...cluster)).err).toContain(
        'replaced customresourcedefinition/websites.example.com: it led to another machine',
      );
      expect((await client.get(CustomResourceDefinition, crd)).metadata.uid).toBe(metadata.uid);
      expect((await client.get(ValidatingWebhookConfiguration, configuration)).metadata.uid).toBe(other.metadata.uid);
    } finally {
      rmSync(state, { recursive: true, force: true });
      await client.delete(ValidatingWebhookConfiguration, configuration);
      expect(await kctl(project(), 'uninstall', ...cluster)).toMatchObject({ code: 0 });
    }
  });
});

describe('a project', () => {
  it.each([
    ['"text"', /package\.json: kctl "text" is not valid: expected an object with main, output, image/],
    ['[]', /package\.json: kctl \[\] is not valid: expected an object/],
    ['{"image":5}', /package\.json: kctl\.image 5 is not valid: expected a string/],
  ])('with the settings %s is refused', async (settings, message) => {
    const folder = project();
    const file = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...manifest, kctl: JSON.parse(settings) as unknown }));
    expect((await kctl(folder, 'generate')).err).toMatch(message);
    writeFileSync(file, '[]');
    expect((await kctl(folder, 'generate')).err).toMatch(/package\.json cannot be read: expected an object/);
  });

  it('with a folder in place of a generated file, or a file in place of a folder, gets no files', async () => {
    const folder = project();
    const deploy = join(folder, 'deploy');
    rmSync(deploy, { recursive: true, force: true });
    mkdirSync(join(deploy, 'rbac', 'rbac.yaml'), { recursive: true });
    writeFileSync(join(deploy, 'manager'), 'a file');
    const { code, err } = await kctl(folder, 'generate');
    expect(code).toBe(1);
    expect(err).toMatch(/deploy\/rbac\/rbac\.yaml is a folder: expected a file/);
    expect(err).toMatch(
      /deploy\/manager is not a folder: .*manager\.yaml is to be in it.*: nothing was changed: move what stands there away/,
    );
    expect(readdirSync(deploy).sort()).toEqual(['manager', 'rbac']);
  });
});

describe('a newcomer', () => {
  it('learns that the CRD is older than the code', async () => {
    const folder = project();
    expect(await kctl(folder, 'install', ...cluster)).toMatchObject({ code: 0 });
    const other = project();
    const main = join(other, 'src', 'main.ts');
    writeFileSync(
      main,
      readFileSync(main, 'utf8').replace('spec: z.object({', 'spec: z.object({ title: z.string().optional(),'),
    );
    const { out } = await kctl(other, 'doctor', ...cluster);
    expect(out).toMatch(
      /warning +crd +websites.example.com differs from the code: v1 spec.title: .*: run npx kctl install/,
    );
    expect(await kctl(folder, 'uninstall', ...cluster)).toMatchObject({ code: 0 });
  });

  it('learns which right is missing', async () => {
    const kubeconfig = join(project(), 'kubeconfig');
    const text = readFileSync(environment.kubeconfigPath, 'utf8');
    writeFileSync(
      kubeconfig,
      text.replace(/^( *)token: .*$/m, (line, indent: string) => `${line}\n${indent}as: ann`),
    );
    const refused = await kctl(project(), 'install', '--kubeconfig', kubeconfig);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toMatch(
      /cannot be applied: .*: you need patch on customresourcedefinitions.apiextensions.k8s.io, in a role that is bound to you\n$/,
    );
  });

  it('learns that the cluster does not answer', async () => {
    const kubeconfig = join(project(), 'kubeconfig');
    const text = readFileSync(environment.kubeconfigPath, 'utf8');
    writeFileSync(kubeconfig, text.replace(/server: .*/, 'server: https://127.0.0.1:1'));
    const lost = await kctl(project(), 'install', '--kubeconfig', kubeconfig);
    expect(lost).toMatchObject({ code: 1 });
    expect(lost.err).toMatch(
      /connection refused: is the cluster running\? Name another by --context or --kubeconfig, or use npx kctl dev, which needs none\n$/,
    );
  });

  it('learns that the kubeconfig is of another cluster, or chooses none', async () => {
    const kubeconfig = join(project(), 'kubeconfig');
    const text = readFileSync(environment.kubeconfigPath, 'utf8');
    writeFileSync(kubeconfig, text.replace(/certificate-authority-data: .*/, 'tls-server-name: localhost'));
    const other = await kctl(project(), 'install', '--kubeconfig', kubeconfig);
    expect(other.err).toMatch(/unknown authority: the kubeconfig is of another cluster, .*: fetch it again\n$/);
    writeFileSync(kubeconfig, text.replace(/current-context: .*/, ''));
    const none = await kctl(project(), 'install', '--kubeconfig', kubeconfig);
    expect(none.err).toMatch(/current-context is not set: .*: by --context, or by kubectl config use-context\n$/);
  });

  it('names a context that is not there, and is told which are', async () => {
    const { code, err } = await kctl(project(), 'install', '--context', 'production', ...cluster);
    expect(code).toBe(1);
    expect(err).toMatch(/context "production" does not exist: expected \S+\n$/);
  });

  it('gives a time that is none', async () => {
    expect(await kctl(project(), 'install', '--timeout', 'soon')).toMatchObject({
      code: 2,
      err: 'kctl: --timeout <seconds> "soon" is not valid: expected seconds, above 0: see npx kctl install --help\n',
    });
  });
});
