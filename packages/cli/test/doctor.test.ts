import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Namespace, Service } from '@kctl/apimachinery/kinds/core/v1';
import { EndpointSlice } from '@kctl/apimachinery/kinds/discovery.k8s.io/v1';
import { createEnvironment, installCrds, type TestEnvironment } from '@kctl/testing';
import { createSelfSignedCertificate } from '@kctl/webhook';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kctl, project } from './project.js';

const namespace = 'websites-system';
let environment: TestEnvironment;
let folder: string;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded', embedded: { authorization: 'RBAC' } });
  await environment.client.create(Namespace, { metadata: { name: namespace } });
});
afterAll(() => environment.stop());

/** The findings of a check, a line each: status and message. */
async function findings(check: string, ...given: readonly string[]): Promise<readonly string[]> {
  const { out, err } = await kctl(folder, 'doctor', '--json', '--kubeconfig', environment.kubeconfigPath, ...given);
  if (out === '') throw new Error(err);
  const { findings: found } = JSON.parse(out) as { findings: { check: string; status: string; message: string }[] };
  return found.filter((each) => each.check === check).map(({ status, message }) => `${status}: ${message}`);
}

describe('kctl doctor', () => {
  it('names generated files that are out of date', async () => {
    folder = project();
    expect(await findings('files')).toEqual(['warning: deploy does not exist: run npx kctl generate']);
    await kctl(folder, 'generate');
    expect(await findings('files')).toEqual(['ok: deploy is what the code says']);
    appendFileSync(join(folder, 'deploy', 'rbac', 'rbac.yaml'), '# edited\n');
    rmSync(join(folder, 'deploy', 'kustomization.yaml'));
    expect(await findings('files')).toEqual([
      'warning: 2 files in deploy are out of date: run npx kctl generate, which names them',
    ]);
  });

  it('names versions that are deprecated, not served, or stored and gone', async () => {
    folder = project();
    const key = { name: 'websites.example.com' };
    await kctl(folder, 'install', '--kubeconfig', environment.kubeconfigPath);
    expect(await findings('crd')).toEqual(['ok: websites.example.com is what the code says']);
    const shortNames = { spec: { names: { shortNames: ['ws'] } } };
    await environment.client.patch(CustomResourceDefinition, key, { type: 'merge', body: shortNames });
    expect(await findings('crd')).toEqual([
      'warning: websites.example.com differs from the code in short names, categories or columns: run npx kctl install',
    ]);
    const { spec } = await environment.client.get(CustomResourceDefinition, key);
    const [v1] = spec.versions;
    const versions = [
      { ...v1!, deprecated: true },
      { ...v1!, name: 'v1alpha1', storage: false, deprecated: true, deprecationWarning: 'use v1' },
    ];
    await environment.client.patch(CustomResourceDefinition, key, { type: 'merge', body: { spec: { versions } } });
    const status = { storedVersions: ['v1alpha1', 'v1'] };
    await environment.client.status(CustomResourceDefinition).patch(key, { type: 'merge', body: { status } });
    expect(await findings('crd')).toEqual([
      expect.stringMatching(/^(warning|problem): websites.example.com differs from the code/),
      'warning: v1 of websites.example.com is deprecated: move its users to a newer version',
      'warning: v1alpha1 of websites.example.com is deprecated: use v1',
      'problem: objects of websites.example.com may be stored as v1alpha1, which the code no longer has: keep the version, and move them by migrateStorage of @kctl/client',
    ]);
    await environment.client.delete(CustomResourceDefinition, key);
  });

  it('names what the operator works with and the server lacks', async () => {
    folder = project();
    const main = join(folder, 'src', 'main.ts');
    const text = readFileSync(main, 'utf8').replace('.owns(ConfigMap)', '.owns(ConfigMap)\n      .owns(Certificate)');
    const kind =
      "const Certificate = defineKind()({ group: 'cert-manager.io', version: 'v1', kind: 'Certificate', scope: 'Namespaced' });";
    writeFileSync(main, `import { defineKind } from '@kctl/apimachinery';\n${kind}\n${text}`);
    expect(await findings('api')).toEqual([
      'problem: the server has no certificates.cert-manager.io, which kind source: Certificate.cert-manager.io needs: install what brings it',
    ]);
    folder = project();
    expect(await findings('api')).toEqual([
      expect.stringMatching(/^ok: the server has the \d+ other resources that are needed$/),
    ]);
  });

  it('names versions that the server lacks, or that a release of Kubernetes removes', async () => {
    const using = async (group: string, version: string, kind: string): Promise<readonly string[]> => {
      folder = project();
      const main = join(folder, 'src', 'main.ts');
      const text = readFileSync(main, 'utf8').replace('.owns(ConfigMap)', '.owns(ConfigMap)\n      .owns(Other)');
      const token = JSON.stringify({ group, version, kind, scope: 'Namespaced' });
      writeFileSync(
        main,
        `import { defineKind } from '@kctl/apimachinery';\nconst Other = defineKind()(${token});\n${text}`,
      );
      return await findings('api');
    };
    expect(await using('batch', 'v1beta1', 'CronJob')).toEqual([
      'problem: the server has cronjobs.batch in v1, and not in v1beta1, which kind source: CronJob.batch needs: use batch/v1 CronJob',
    ]);
    const versions = ['v1', 'v1beta1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      ...(name === 'v1beta1' ? { deprecated: true, deprecationWarning: 'move to v1' } : {}),
      schema: { openAPIV3Schema: { type: 'object' as const } },
    }));
    await installCrds(environment.client, [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'routes.shop.example.org' },
        spec: {
          group: 'shop.example.org',
          scope: 'Namespaced',
          names: { kind: 'Route', plural: 'routes' },
          versions,
        },
      },
    ]);
    expect(await using('shop.example.org', 'v1beta1', 'Route')).toEqual([
      'warning: v1beta1 of routes.shop.example.org, which kind source: Route.shop.example.org needs, is deprecated: move to v1',
    ]);
    expect(await using('shop.example.org', 'v2', 'Route')).toEqual([
      'problem: the server has routes.shop.example.org in v1, and not in v2, which kind source: Route.shop.example.org needs: use shop.example.org/v1 Route',
    ]);
  });

  it('says which rule grants a right that is missing', async () => {
    folder = project();
    expect(await findings('rights', '--as-operator')).toContain(
      `problem: system:serviceaccount:${namespace}:websites may not patch websites.example.com/status, which for(Website) needs: apply what npx kctl generate rbac writes, or add { apiGroups: ["example.com"], resources: ["websites/status"], verbs: ["patch"] }`,
    );
  });

  it('compares the memory limit with what will be cached', async () => {
    folder = project();
    const { client } = environment;
    expect(await findings('memory')).toEqual([
      expect.stringMatching(
        /^ok: the Deployment that npx kctl deploy applies has a memory limit of 256 MiB, and needs about 1\d\d MiB for \d+ watched objects$/,
      ),
    ]);
    await client.create(ConfigMap, { metadata: { namespace, name: 'large' }, data: { text: 'x'.repeat(900_000) } });
    const labels = { app: 'websites' };
    const deployment = (resources: object): object => ({
      metadata: { namespace, name: 'websites' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'operator', image: 'websites', resources }] } },
      },
    });
    await client.create(Deployment, deployment({ limits: { memory: '64Mi' } }) as Deployment);
    expect(await findings('memory')).toEqual([
      expect.stringMatching(
        /^problem: deployment\/websites in websites-system has a memory limit of 64 MiB, and needs about \d+ MiB for \d+ watched objects: set resources.limits.memory to \d+Mi, or watch fewer objects/,
      ),
    ]);
    const containers = [{ name: 'operator', image: 'websites', resources: { limits: { memory: null } } }];
    const body = { spec: { template: { spec: { containers } } } };
    await client.patch(Deployment, { namespace, name: 'websites' }, { type: 'strategic', body });
    expect(await findings('memory')).toEqual([
      expect.stringMatching(/^warning: deployment\/websites in websites-system has no memory limit; it needs about/),
    ]);
    await client.delete(Deployment, { namespace, name: 'websites' });
  });

  it('says why the API server cannot call a webhook, and what that means', async () => {
    folder = project();
    const { client } = environment;
    const configuration = 'websites-validating';
    expect(await findings('webhook')).toEqual([
      `warning: ${configuration} is not there: writes pass without its webhooks until npx kctl deploy applies it`,
    ]);
    const service = { namespace, name: 'websites-webhook', path: '/validate' };
    const webhook = {
      name: 'other.example.com',
      clientConfig: { service },
      rules: [],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    } as const;
    await client.create(ValidatingWebhookConfiguration, { metadata: { name: configuration }, webhooks: [webhook] });
    const [missing = ''] = await findings('webhook');
    const [, name = ''] =
      /^problem: (\S+) is not registered: writes pass without it: run npx kctl deploy$/.exec(missing) ?? [];
    expect(name).not.toBe('');
    const install = async (more: object): Promise<void> => {
      const body = { webhooks: [{ ...webhook, name, ...more }] };
      await client.patch(ValidatingWebhookConfiguration, { name: configuration }, { type: 'merge', body });
    };
    await install({});
    expect(await findings('webhook')).toEqual([
      `problem: ${name} has no caBundle: writes that it judges are refused: is cert-manager's cainjector running, and is its Certificate ready?`,
      `problem: ${name} leads to the Service websites-webhook in ${namespace}, which does not exist: writes that it judges are refused: run npx kctl deploy`,
    ]);
    const bundle = async (validityMs: number, now: number): Promise<string> => {
      const { cert } = await createSelfSignedCertificate({ validityMs, clock: { now: () => now } });
      return Buffer.from(cert).toString('base64');
    };
    await client.create(Service, { metadata: service, spec: { ports: [{ port: 443 }] } });
    await install({ clientConfig: { service, caBundle: await bundle(86_400_000, 0) }, failurePolicy: 'Ignore' });
    expect(await findings('webhook')).toEqual([
      `warning: ${name} has failurePolicy Ignore, and the code says Fail: run npx kctl deploy`,
      `problem: ${name} has a caBundle that has expired: writes pass without it: is the injector that renews it running?`,
      `problem: ${name} leads to the Service websites-webhook in ${namespace}, which has no ready pod: writes pass without it: see kubectl get pods --namespace ${namespace}`,
    ]);
    await client.create(EndpointSlice, {
      metadata: { namespace, name: 'websites-1', labels: { 'kubernetes.io/service-name': 'websites-webhook' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: [],
    });
    // The webhook is not called in this test: it judges nothing.
    await install({ clientConfig: { service, caBundle: await bundle(86_400_000, 1e13) } });
    expect(await findings('webhook')).toEqual(['ok: 1 webhook can be called']);
    const body = { spec: { ports: [{ port: 8443 }] } };
    await client.patch(Service, { namespace, name: service.name }, { type: 'merge', body });
    expect(await findings('webhook')).toEqual([
      `problem: ${name} leads to port 443 of the Service websites-webhook in ${namespace}, which has no such port: writes that it judges are refused: run npx kctl deploy`,
    ]);
    const url = 'https://host.k3d.internal:9443/validate';
    await install({ clientConfig: { url, caBundle: await bundle(86_400_000, 1e13) } });
    const annotations = { 'kctl.dev/dev-session': 'one' };
    await client.patch(
      ValidatingWebhookConfiguration,
      { name: configuration },
      { type: 'merge', body: { metadata: { annotations } } },
    );
    expect(await findings('webhook')).toEqual([
      `warning: ${configuration} leads to https://host.k3d.internal:9443 by kctl dev: where that no longer runs, npx kctl deploy restores it`,
    ]);
  });
});
