import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpsServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlreadyExists, type DeepReadonly } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type ValidatingWebhook,
  type WebhookClientConfig,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { Reader, Writer } from '@kctl/client';
import { messageOf } from '@kctl/telemetry/internal';
import { shownValue } from '@kctl/options';
import { systemClock, waitUntil } from '@kctl/wait';
import { createCertificateAuthority, type CertificateAuthority } from './real/certificates.js';

/** A configuration of webhooks, as `webhookConfigurations` of `@kctl/webhook` returns it or a manifest has it. */
export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/**
 * The address at which the webhook server of a test is to listen. Mirrors the `LocalServing…` fields of envtest's
 * `WebhookInstallOptions`.
 */
export interface WebhookServing {
  readonly host: string;
  /** A port that was free when this was made. */
  readonly port: number;
  /** Folder with `tls.crt` and `tls.key`: the `certDir` of a webhook server. */
  readonly certDir: string;
  /** The authority of the certificate, PEM. */
  readonly caBundle: string;
}

/** The client of {@link LocalWebhooks.install}. */
export type WebhookClient = Pick<Reader, 'get'> & Pick<Writer, 'create' | 'update' | 'delete'>;

/** Options of {@link LocalWebhooks.install}. */
export interface InstallWebhooksOptions {
  /** How long the API server may take to call the webhooks, in ms. @default 10000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A place for a webhook server on this machine, and the configurations that lead there. */
export interface LocalWebhooks extends AsyncDisposable {
  readonly serving: WebhookServing;
  /** Points configurations at {@link serving}, creates or replaces them, and waits until the API server acts on them. */
  install(
    client: WebhookClient,
    configurations: readonly DeepReadonly<WebhookConfiguration>[],
    options?: InstallWebhooksOptions,
  ): Promise<void>;
}

const host = '127.0.0.1';

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const port = portOf(server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function portOf(address: string | AddressInfo | null): number {
  if (typeof address === 'object' && address !== null) return address.port;
  throw new TypeError('the server has no port');
}

/**
 * A definition whose conversion webhook is the server at `serving`, at the path that it has. One with several versions
 * that does not set its conversion, as that of a resource, gets the path `/convert`, as `kctl generate` writes it. Others
 * are returned as they are.
 */
export function withLocalConversion(
  { port, caBundle }: WebhookServing,
  crd: DeepReadonly<CustomResourceDefinition>,
): DeepReadonly<CustomResourceDefinition> {
  const { conversion } = crd.spec;
  const isConverted =
    conversion === undefined ? (crd.spec.versions ?? []).length > 1 : conversion.strategy === 'Webhook';
  if (!isConverted) return crd;
  const webhook = conversion?.webhook;
  const path = webhook?.clientConfig === undefined ? '/convert' : pathOf(webhook.clientConfig);
  const clientConfig = {
    url: `https://${host}:${port}${path}`,
    caBundle: Buffer.from(caBundle).toString('base64'),
  };
  const conversionReviewVersions = webhook?.conversionReviewVersions ?? ['v1'];
  return {
    ...crd,
    spec: { ...crd.spec, conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } } },
  };
}

/** Makes a certificate of a throw-away authority and finds a port for a webhook server. Dispose of it to remove the files. */
export async function prepareWebhooks(): Promise<LocalWebhooks> {
  const authority = await createCertificateAuthority('kctl-webhooks', systemClock.now());
  const { certPem, keyPem } = await authority.issueServing({
    commonName: 'webhook',
    dnsNames: ['localhost'],
    ipAddresses: [host, '::1'],
  });
  const certDir = await mkdtemp(join(tmpdir(), 'kctl-webhooks-'));
  await Promise.all([
    writeFile(join(certDir, 'tls.crt'), certPem),
    writeFile(join(certDir, 'tls.key'), keyPem, { mode: 0o600 }),
  ]);
  const serving: WebhookServing = { host, port: await freePort(), certDir, caBundle: authority.ca.certPem };
  return {
    serving,
    install: (client, configurations, options = {}) =>
      installAll(client, { serving, authority, configurations }, options),
    [Symbol.asyncDispose]: () => rm(certDir, { recursive: true, force: true }),
  };
}

interface Installation {
  readonly serving: WebhookServing;
  readonly authority: CertificateAuthority;
  readonly configurations: readonly DeepReadonly<WebhookConfiguration>[];
}

async function installAll(
  client: WebhookClient,
  { serving, authority, configurations }: Installation,
  options: InstallWebhooksOptions,
): Promise<void> {
  for (const [at, { kind }] of configurations.entries())
    if (kind !== 'MutatingWebhookConfiguration' && kind !== 'ValidatingWebhookConfiguration')
      throw new TypeError(
        `installWebhooks: the kind of configurations[${at}] is ${shownValue(kind)}: expected MutatingWebhookConfiguration or ValidatingWebhookConfiguration`,
      );
  for (const configuration of configurations) await createOrReplace(client, pointedAt(serving, configuration));
  // One more of each type, made last. When the API server calls it, it acts on those before it, too.
  const types = new Set(configurations.map(isMutating));
  const refusing = configurations.filter(isMutating).flatMap(({ webhooks = [] }) => webhooks.map(({ name }) => name));
  for (const isMutatingType of types)
    await waitUntilCalled(client, { authority, isMutating: isMutatingType, refusing }, options);
}

function isMutating(
  configuration: DeepReadonly<WebhookConfiguration>,
): configuration is DeepReadonly<MutatingWebhookConfiguration> {
  return configuration.kind === 'MutatingWebhookConfiguration';
}

/** The path of a client configuration, which is that of its Service, or that of its URL. */
function pathOf({ service, url }: DeepReadonly<WebhookClientConfig>): string {
  if (service !== undefined) return service.path ?? '/';
  return url === undefined ? '/' : new URL(url).pathname;
}

function pointedAt(
  { port, caBundle }: WebhookServing,
  configuration: DeepReadonly<WebhookConfiguration>,
): DeepReadonly<WebhookConfiguration> {
  const clientConfig = (given: DeepReadonly<WebhookClientConfig>): WebhookClientConfig => ({
    url: `https://${host}:${port}${pathOf(given)}`,
    caBundle: Buffer.from(caBundle).toString('base64'),
  });
  return isMutating(configuration)
    ? {
        ...configuration,
        webhooks:
          configuration.webhooks?.map((each) => ({ ...each, clientConfig: clientConfig(each.clientConfig) })) ?? [],
      }
    : {
        ...configuration,
        webhooks:
          configuration.webhooks?.map((each) => ({ ...each, clientConfig: clientConfig(each.clientConfig) })) ?? [],
      };
}

async function createOrReplace(
  client: WebhookClient,
  configuration: DeepReadonly<WebhookConfiguration>,
): Promise<void> {
  const { name = '' } = configuration.metadata;
  if (isMutating(configuration)) {
    try {
      await client.create(MutatingWebhookConfiguration, configuration);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const { metadata } = await client.get(MutatingWebhookConfiguration, { name }, { live: true });
      const resourceVersion = metadata.resourceVersion ?? '';
      await client.update(MutatingWebhookConfiguration, {
        ...configuration,
        metadata: { ...configuration.metadata, resourceVersion },
      });
    }
    return;
  }
  try {
    await client.create(ValidatingWebhookConfiguration, configuration);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { metadata } = await client.get(ValidatingWebhookConfiguration, { name }, { live: true });
    const resourceVersion = metadata.resourceVersion ?? '';
    await client.update(ValidatingWebhookConfiguration, {
      ...configuration,
      metadata: { ...configuration.metadata, resourceVersion },
    });
  }
}

interface Probe {
  readonly authority: CertificateAuthority;
  readonly isMutating: boolean;
  /** Names of the installed mutating webhooks, because an object that one of them refuses reaches no validating one. */
  readonly refusing: readonly string[];
}

/**
 * Installs a separate webhook for one labelled ConfigMap, and creates that (as a dry run) until the webhook is called.
 */
async function waitUntilCalled(
  client: WebhookClient,
  { authority, isMutating, refusing }: Probe,
  { timeoutMs = 10_000, signal }: InstallWebhooksOptions,
): Promise<void> {
  // The API server calls mutating webhooks in the order of these names, up to the first refusal.
  const name = `0-kctl-probe-${randomUUID()}`;
  const calls = { count: 0 };
  const server = await startProbe(authority, () => calls.count++);
  const configuration = probeConfiguration(name, { server, caBundle: authority.ca.certPem });
  try {
    await (isMutating
      ? client.create(MutatingWebhookConfiguration, configuration)
      : client.create(ValidatingWebhookConfiguration, configuration));
    await waitUntil(
      async () => {
        const draft = {
          metadata: { generateName: 'kctl-probe-', namespace: 'default', labels: { 'kctl-probe': name } },
        };
        try {
          await client.create(ConfigMap, draft, { dryRun: true, ...(signal !== undefined && { signal }) });
        } catch (error) {
          // Installed webhooks may evaluate it, too.
          const [, denying] = /admission webhook "([^"]*)" denied the request/.exec(messageOf(error)) ?? [];
          if (denying === undefined) throw error;
          if (!isMutating && refusing.includes(denying)) return true;
        }
        return calls.count > 0;
      },
      {
        interval: 20,
        timeoutMs,
        message: 'the API server does not call the webhooks that were installed',
        ...(signal !== undefined && { signal }),
      },
    );
  } finally {
    const kind = isMutating ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
    await client.delete(kind, { name }).catch(() => undefined);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function probeConfiguration(
  name: string,
  { server, caBundle }: { readonly server: Server; readonly caBundle: string },
): { readonly metadata: { readonly name: string }; readonly webhooks: ValidatingWebhook[] } {
  return {
    metadata: { name },
    webhooks: [
      {
        name: 'probe.kctl.dev',
        clientConfig: {
          url: `https://${host}:${portOf(server.address())}/`,
          caBundle: Buffer.from(caBundle).toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { 'kctl-probe': name } },
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
      },
    ],
  };
}

async function startProbe(authority: CertificateAuthority, onCall: () => void): Promise<Server> {
  const { certPem, keyPem } = await authority.issueServing({ commonName: 'probe', dnsNames: [], ipAddresses: [host] });
  const server = createHttpsServer({ cert: certPem, key: keyPem }, (request, response) => {
    onCall();
    request.resume();
    // Its answer does not matter, because failures are ignored.
    response.end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return server;
}
