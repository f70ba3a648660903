import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { isForbidden } from '@kctl/apimachinery';
import { Node } from '@kctl/apimachinery/kinds/core/v1';
import type { OperatorGraph } from '@kctl/operator';
import { createSelfSignedCertificate } from '@kctl/webhook';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { freePort } from './free-port.js';
import { givenSetting } from './given-settings.js';
import { bindAddress, hostAddress } from './host-address.js';

/** How an API server reaches the webhooks of an operator that runs on this machine. */
export interface WebhookRoute {
  /** `https://<host>:<port>`. */
  readonly url: string;
  /** On this machine. */
  readonly port: number;
  /** Host at which this machine reaches it. */
  readonly host: string;
  /** The certificate of the webhook server, PEM: its own authority. */
  readonly caBundle: string;
  /** Arguments of the operator. */
  readonly arguments: readonly string[];
}

/** Options for {@link routeWebhooks}. */
export interface RouteOptions {
  readonly graph: {
    readonly webhooks: OperatorGraph['webhooks'];
    readonly settings: Pick<OperatorGraph['settings'], 'webhookPort'>;
  };
  /** Of the operator, as the person gave them. */
  readonly arguments: readonly string[];
  /** Folder of the certificate. */
  readonly folder: string;
  /** The API server runs in this process. */
  readonly isEmbedded: boolean;
  /** Name of the context, which identifies the tool that created the cluster. */
  readonly context: string | undefined;
  /** Takes precedence over the context. */
  readonly host: string | undefined;
}

/**
 * Creates a certificate and chooses a port for the webhooks of an operator; undefined if it has no webhooks, if a
 * certificate is given, or if it is not known how the cluster reaches this machine, which is reported.
 */
export async function routeWebhooks(
  io: CliIo,
  cluster: OpenCluster,
  options: RouteOptions,
): Promise<WebhookRoute | undefined> {
  const { graph, folder } = options;
  if ([...graph.webhooks].length === 0) return undefined;
  if (givenSetting(io, options.arguments, 'webhookCertDir') !== undefined) {
    io.err('the webhooks have a certificate of yours: the API server calls them where you have registered them\n');
    return undefined;
  }
  const host = options.host ?? (options.isEmbedded ? '127.0.0.1' : await hostOf(io, cluster, options.context));
  const names = ['localhost', '127.0.0.1', ...(host === undefined ? [] : [host])];
  const { cert, key } = await createSelfSignedCertificate({
    dnsNames: names.filter((name) => isIP(name) === 0),
    ipAddresses: [...new Set(names.filter((name) => isIP(name) !== 0))],
  });
  const certificates = join(folder, 'serving-certs');
  mkdirSync(certificates);
  writeFileSync(join(certificates, 'tls.crt'), cert);
  writeFileSync(join(certificates, 'tls.key'), key, { mode: 0o600 });
  const port = await portOf(io, options);
  const bind = await bindOf(io, cluster, options);
  const route = {
    port,
    host: bind ?? '127.0.0.1',
    caBundle: cert,
    arguments: [
      ...['--webhook-port', String(port), '--webhook-cert-dir', certificates],
      ...(bind === undefined ? [] : ['--webhook-host', bind]),
    ],
  };
  if (host !== undefined) return { ...route, url: `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}` };
  io.err(
    'the API server does not call the webhooks: how it reaches this machine is known of k3d, kind, minikube, Docker Desktop, Rancher Desktop and Colima alone: name an address by --webhook-host\n',
  );
  return { ...route, url: '' };
}

/** The name or address by which nodes of the cluster reach this machine; undefined if not known. */
async function hostOf(io: CliIo, cluster: OpenCluster, context: string | undefined = ''): Promise<string | undefined> {
  const nodeAddresses = (): Promise<readonly string[]> => nodeAddressesOf(io, cluster);
  return await hostAddress({ context, platform: process.platform, interfaces: networkInterfaces(), nodeAddresses });
}

/** Addresses of a node; none for a person who may not read them. */
async function nodeAddressesOf({ signal }: CliIo, { client }: OpenCluster): Promise<readonly string[]> {
  try {
    const { items } = await client.list(Node, { limit: 1, signal });
    const addresses = items.flatMap(({ status }) => status?.addresses ?? []);
    return addresses.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : []));
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

/**
 * The address that the operator serves its webhooks at. The loopback address unless a cluster has to reach it; undefined, with
 * a line, for every address of the machine.
 */
async function bindOf(
  io: CliIo,
  cluster: OpenCluster,
  { arguments: given, isEmbedded, context = '', host }: RouteOptions,
): Promise<string | undefined> {
  const own = givenSetting(io, given, 'webhookHost');
  if (own !== undefined) return own;
  if (isEmbedded) return '127.0.0.1';
  const interfaces = networkInterfaces();
  const addresses = Object.values(interfaces).flatMap((each) => (each ?? []).map(({ address }) => address));
  if (host !== undefined && addresses.includes(host)) return host;
  const nodeAddresses = (): Promise<readonly string[]> => nodeAddressesOf(io, cluster);
  const found = await bindAddress({ context, platform: process.platform, interfaces, nodeAddresses });
  if (found !== undefined) return found;
  // An API server that has no way here needs no address but this one.
  if (host === undefined && (await hostOf(io, cluster, context)) === undefined) return '127.0.0.1';
  io.err(
    'the webhooks are served at every address of this machine, with the rights of your kubeconfig behind them: add -- --webhook-host <address> to serve them at one\n',
  );
  return undefined;
}

/** As the person gave it, else the default of the operator; a free one in place of 0. */
async function portOf(io: CliIo, { arguments: given, graph }: RouteOptions): Promise<number> {
  const text = givenSetting(io, given, 'webhookPort') ?? '';
  const port = text === '' ? graph.settings.webhookPort : Number(text);
  return port === 0 ? await freePort() : port;
}
