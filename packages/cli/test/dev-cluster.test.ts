// kctl dev in a cluster that has a deployed copy: its webhooks lead to this machine, and back again, also after kill -9.
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ValidatingWebhookConfiguration } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { defineKind } from '@kctl/apimachinery';
import { createLeaderElector, createLeaseLock, leaseKind } from '@kctl/leader-election';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { startExample } from '@kctl/vitest-config/example';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { kctl, project } from './project.js';

const cli = join(import.meta.dirname, '..', 'src', 'cli.ts');
const namespace = 'websites-system';
const configuration = { name: 'websites-validating' };
const crd = { name: 'websites.example.com' };
const Website = defineKind<{
  apiVersion?: string;
  kind?: string;
  metadata: { name?: string };
  spec: { html: string };
}>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
});

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
  await environment.client.create(Namespace, { metadata: { name: namespace } });
});
afterAll(() => environment.stop());

const started: ReturnType<typeof startExample>[] = [];
afterEach(async () => {
  for (const program of started.splice(0)) await program.stop('SIGINT');
});

/** A project whose kind has two versions, which the operator converts. */
function converting(): string {
  const folder = project();
  const main = join(folder, 'src', 'main.ts');
  const text = readFileSync(main, 'utf8')
    .replace('v1: {', 'v2: { spec: z.object({ text: z.string() }) },\n    v1: {\n      storage: true,')
    .replace('import { controllerManagedBy,', 'import { hubSpokeConverter, spoke, controllerManagedBy,')
    .replace(
      '.complete();\n  },',
      `.withConverter(hubSpokeConverter(Website, spoke(Website, Website.versions.v2, {
        toHub: ({ spec: { text } }) => ({ spec: { html: text } }),
        fromHub: ({ spec: { html } }) => ({ spec: { text: html } }),
      })))
      .complete();
  },`,
    );
  writeFileSync(main, text);
  return folder;
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}

const dev = async (folder: string, ...given: readonly string[]): Promise<ReturnType<typeof startExample>> => {
  const ports = ['--health-probe-bind-address', '0', '--metrics-bind-address', '0', '--webhook-port', await freePort()];
  const cluster = ['--kubeconfig', environment.kubeconfigPath, '--webhook-host', '127.0.0.1'];
  const program = startExample(cli, { cwd: folder, args: ['dev', ...cluster, ...given, '--', ...ports] });
  started.push(program);
  return program;
};

const create = async (html: string): Promise<unknown> =>
  await environment.client.create(Website, {
    metadata: { name: `site-${Math.random()}`, namespace: 'default' },
    spec: { html },
  } as never);

describe('kctl dev in a cluster', () => {
  it('has the API server call the webhooks here, and leaves nothing, also after kill -9', async () => {
    const { client } = environment;
    const folder = converting();
    const service = { namespace, name: 'websites-webhook', path: '/of-the-deployed-copy' };
    const deployed = {
      name: 'deployed.example.com',
      clientConfig: { service, caBundle: Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64') },
      rules: [],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    } as const;
    const inject = { 'cert-manager.io/inject-ca-from': `${namespace}/websites-webhook` };
    await client.create(ValidatingWebhookConfiguration, {
      metadata: { ...configuration, annotations: inject },
      webhooks: [deployed],
    });
    const now = async (): Promise<unknown> => {
      const { metadata, webhooks = [] } = await client.get(ValidatingWebhookConfiguration, configuration);
      return [metadata.annotations ?? {}, webhooks.map(({ name, clientConfig }) => [name, clientConfig])];
    };
    const before = await now();

    const first = await dev(folder);
    await first.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    expect(await now()).not.toEqual(before);
    await expect(create('yes')).resolves.toBeDefined();
    const [site] = (await client.list(Website)).items;
    const V2 = defineKind()({ group: 'example.com', version: 'v2', kind: 'Website', scope: 'Namespaced' });
    expect(await client.get(V2, { namespace: 'default', name: site?.metadata.name ?? '' })).toMatchObject({
      spec: { text: 'yes' },
    });
    await first.stop('SIGKILL');
    started.splice(0);
    expect(await now()).not.toEqual(before);
    const url = /webhook at (https:\S+)/.exec(first.output)?.[1] ?? '';
    // The operator has ended with the command that was killed.
    await eventually(async () => expect(await isListening(Number(new URL(url).port))).toBe(false), {
      timeoutMs: 20_000,
    });

    const second = await dev(folder);
    await second.waitFor('restored validatingwebhookconfiguration/websites-validating');
    await second.waitFor('restored customresourcedefinition/websites.example.com');
    await second.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    expect(await second.stop('SIGINT'), second.output).toBe(0);
    expect(await now()).toEqual(before);
    const { spec } = await client.get(CustomResourceDefinition, crd);
    expect(spec.conversion).toEqual({ strategy: 'None' });
    await client.delete(ValidatingWebhookConfiguration, configuration);
  }, 120_000);

  it('is restored by install and deploy as well, not by a dry run', async () => {
    const { client } = environment;
    const annotations = { 'kctl.dev/before-dev': '"absent"' };
    await client.create(ValidatingWebhookConfiguration, { metadata: { ...configuration, annotations }, webhooks: [] });
    const cluster = ['--kubeconfig', environment.kubeconfigPath];
    expect((await kctl(project(), 'install', '--dry-run', ...cluster)).err).not.toContain('restored');
    expect((await kctl(project(), 'install', ...cluster)).err).toContain(
      'restored validatingwebhookconfiguration/websites-validating',
    );
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    const edited = { 'kctl.dev/before-dev': '{' };
    await client.create(ValidatingWebhookConfiguration, {
      metadata: { ...configuration, annotations: edited },
      webhooks: [],
    });
    expect((await kctl(project(), 'deploy', ...cluster)).err).toMatch(
      /the annotation kctl.dev\/before-dev of .* websites-validating is not what kctl dev wrote: delete it/,
    );
    await client.delete(ValidatingWebhookConfiguration, configuration);
  });

  it('takes the lease of a deployed copy only where that is asked for, and gives it back', async () => {
    const { client } = environment;
    const key = { namespace, name: 'websites' };
    const leads: boolean[] = [];
    const elector = createLeaderElector({
      lock: createLeaseLock({ client, ...key, identity: 'deployed-copy' }),
      leaseDurationMs: 3_000,
      renewDeadlineMs: 2_000,
      retryPeriodMs: 500,
      reelect: true,
      callbacks: {
        onStartedLeading: async (signal) => {
          leads.push(true);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          leads.push(false);
        },
      },
    });
    const stop = new AbortController();
    const running = elector.run(stop.signal);
    await eventually(() => expect(leads.at(-1)).toBe(true));

    const refused = await kctl(project(), 'dev', '--kubeconfig', environment.kubeconfigPath);
    expect(refused).toMatchObject({
      code: 1,
      err: 'kctl: deployed-copy leads by the lease websites in websites-system: two operators would work on the same objects: add --take-over, which has it wait meanwhile, or run kctl undeploy\n',
    });

    const program = await dev(project(), '--take-over');
    await program.waitFor('took the lease websites in websites-system from deployed-copy, which has 3 s to stop');
    await program.waitFor('Starting workers');
    // A loaded machine may cost the copy its lease before: what counts is that it does not lead now.
    expect(leads.at(-1)).toBe(false);
    expect((await client.get(leaseKind, key)).spec?.holderIdentity).toMatch(/^kctl-dev_/);
    expect(await program.stop('SIGINT'), program.output).toBe(0);
    expect(program.output).toContain('gave the lease websites in websites-system back\n');
    expect((await client.get(leaseKind, key)).spec?.holderIdentity).not.toMatch(/^kctl-dev_/);
    // What was not there before is not there now.
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    await eventually(() => expect(leads.at(-1)).toBe(true));
    stop.abort();
    await running;
  }, 60_000);
});
