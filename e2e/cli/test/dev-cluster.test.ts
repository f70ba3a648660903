// kctl dev in a cluster that has a deployed copy: its webhooks lead to this machine, and back again, also after kill -9.
// KCTL_TEST_SERVER=real takes a kube-apiserver, which acts on a changed configuration some moments later.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { defineKind } from '@kctl/apimachinery';
import { createLeaderElector, createLeaseLock } from '@kctl/leader-election';
import { leaseKind } from '@kctl/leader-election/internal';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFolders, freePort, kctl, startKctl, type Started } from '../src/project.js';

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
beforeEach(async () => {
  environment = await createEnvironment();
  await environment.client.create(Namespace, { metadata: { name: namespace } });
});

const folders = createFolders();
const started: Started[] = [];
afterEach(async () => {
  for (const program of started.splice(0)) await program.stop('SIGINT');
  folders.remove();
  await environment.stop();
});

/** A project whose kind has two versions, which the operator converts. */
function converting(): string {
  const folder = folders.project();
  const main = join(folder, 'src', 'main.ts');
  const text = readFileSync(main, 'utf8')
    .replace('v1: {', 'v2: { spec: z.object({ text: z.string() }) },\n    v1: {\n      storage: true,')
    .replace('import { controllerManagedBy,', 'import { hubSpokeConverter, spoke, controllerManagedBy,')
    .replace(
      '.complete();\n  },',
      `.withConverter(hubSpokeConverter(Website, spoke(Website, Website.versions.v2, {
        toHub: ({ spec }) => ({ spec: { html: spec?.text } }),
        fromHub: ({ spec }) => ({ spec: { text: spec?.html } }),
      })))
      .complete();
  },`,
    );
  writeFileSync(main, text);
  return folder;
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

interface DevOptions {
  readonly given?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const dev = async (folder: string, { given = [], env = {} }: DevOptions = {}): Promise<Started> => {
  const ports = ['--health-probe-bind-address', '0', '--metrics-bind-address', '0', '--webhook-port', await freePort()];
  const cluster = ['--kubeconfig', environment.kubeconfigPath, '--webhook-host', '127.0.0.1'];
  const program = startKctl(folder, ['dev', ...cluster, ...given, '--', ...ports], env);
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

    const temporary = folders.empty();
    const first = await dev(folder, { env: { TMPDIR: temporary } });
    await first.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    expect(await now()).not.toEqual(before);
    await expect(create('yes')).resolves.toBeDefined();
    const [site] = (await client.list(Website)).items;
    const V2 = defineKind()({ group: 'example.com', version: 'v2', kind: 'Website', scope: 'Namespaced' });
    expect(await client.get(V2, { namespace: 'default', name: site?.metadata.name ?? '' })).toMatchObject({
      spec: { text: 'yes' },
    });
    const left = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('kctl-dev-'));
    expect(left()).toHaveLength(1);
    await first.stop('SIGKILL');
    started.splice(0);
    // A process that has survived undoes what it did; the operator ends, too, and keys are gone.
    await eventually(async () => expect(await now()).toEqual(before), { timeoutMs: 20_000 });
    await eventually(async () =>
      expect((await client.get(CustomResourceDefinition, crd)).spec.conversion).toEqual({ strategy: 'None' }),
    );
    await eventually(() => expect(left()).toEqual([]), { timeoutMs: 20_000 });
    const url = /webhook at (https:\S+)/.exec(first.output)?.[1] ?? '';
    await eventually(async () => expect(await isListening(Number(new URL(url).port))).toBe(false), {
      timeoutMs: 20_000,
    });
    // A webhook that fails closed, and leads to nothing, would refuse it.
    await eventually(async () => expect(await create('after the crash')).toBeDefined());
    await client.delete(ValidatingWebhookConfiguration, configuration);
  }, 120_000);

  it('leads to webhooks that a change brings, and no longer to those that it takes away', async () => {
    const { client } = environment;
    const folder = folders.project();
    const main = join(folder, 'src', 'main.ts');
    const validator = /\.withValidator\(.*\)/;
    const refusing =
      ".withValidator({ validateCreate: ({ spec }) => { if (spec.html === 'no') throw new Error('html is no'); } })";
    const text = readFileSync(main, 'utf8').replace(validator, refusing);
    // At first it has no webhook at all.
    const without = text.replace(/ {4}webhookManagedBy[\s\S]*?complete\(\);\n/, '').replace(', webhookManagedBy', '');
    expect(without).not.toContain('webhook');
    writeFileSync(main, without);
    const program = await dev(folder);
    await program.waitFor('Starting workers');
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);

    writeFileSync(main, text);
    await program.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    await eventually(async () => await expect(create('no')).rejects.toThrow('html is no'));
    const defaulter = ".withDefaulter((site) => { if (site.spec.html === 'old') site.spec.html = 'new'; })";
    writeFileSync(
      main,
      text.replace(validator, (found) => found + defaulter),
    );
    await program.waitFor('the API server calls 2 webhooks at https://127.0.0.1:');
    await eventually(async () => expect(await create('old')).toMatchObject({ spec: { html: 'new' } }));

    writeFileSync(main, text.replace(validator, defaulter));
    await program.waitFor('restored validatingwebhookconfiguration/websites-validating');
    await eventually(async () => expect(await create('no')).toBeDefined());
    writeFileSync(main, without);
    await program.waitFor('restored mutatingwebhookconfiguration/websites-mutating');
    await eventually(async () => expect(await create('old')).toMatchObject({ spec: { html: 'old' } }));
    expect((await client.list(MutatingWebhookConfiguration)).items).toEqual([]);
    expect(program.output.match(/^restarted: main.ts changed/gm)?.length).toBeGreaterThanOrEqual(4);
    expect(await program.stop('SIGINT'), program.output).toBe(0);
  }, 120_000);

  it('names another kctl dev of the same operator, and ends it only where that is asked for', async () => {
    const { client } = environment;
    const lease = { namespace: 'default', name: 'kctl-dev-websites' };
    const first = await dev(folders.project());
    await first.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    const before = await client.get(ValidatingWebhookConfiguration, configuration);

    const refused = await kctl(folders.project(), 'dev', '--kubeconfig', environment.kubeconfigPath);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^kctl: another kctl dev runs websites in this cluster: \S+@\S+, since \d{4}-/);
    expect(refused.err).toContain('end it, or add --take-over, which ends it');
    expect(await client.get(ValidatingWebhookConfiguration, configuration)).toEqual(before);

    const second = await dev(folders.project(), { given: ['--take-over'] });
    await second.waitFor('took over from the kctl dev of ');
    await first.waitFor('kctl: another kctl dev has taken over');
    expect(first.output).toContain('restored validatingwebhookconfiguration/websites-validating');
    await second.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    await expect(create('yes')).resolves.toBeDefined();
    expect(await second.stop('SIGINT'), second.output).toBe(0);
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
    await expect(client.get(leaseKind, lease)).rejects.toThrow('not found');

    const third = await dev(folders.project());
    await third.waitFor('the API server calls 1 webhook at https://127.0.0.1:');
    await third.stop('SIGKILL');
    await eventually(async () => await expect(client.get(leaseKind, lease)).rejects.toThrow('not found'), {
      timeoutMs: 20_000,
    });
  }, 240_000);

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

    const refused = await kctl(folders.project(), 'dev', '--kubeconfig', environment.kubeconfigPath);
    expect(refused).toMatchObject({
      code: 1,
      err: 'kctl: deployed-copy leads by the lease websites in websites-system: two operators would work on the same objects: add --take-over, which has it wait meanwhile, or run npx kctl undeploy\n',
    });

    const program = await dev(folders.project(), { given: ['--take-over'] });
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
