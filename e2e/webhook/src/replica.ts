import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { KubeObject } from '@kctl/apimachinery';
import type { Connection } from '@kctl/client-http';
import { controllerManagedBy, createConsoleLogger, createManager, webhookManagedBy, type Logger } from '@kctl/runtime';
import { sleep } from '@kctl/wait';
import {
  webhookConfigurations,
  withConversion,
  type RegisteredWebhooks,
  type SelfManagedCertificatesOptions,
} from '@kctl/webhook';
import { converter, crd, WidgetV1 } from './widget.js';

const host = '127.0.0.1';
const serverName = 'localhost';

/** Names that the replicas share. */
export const names = {
  namespace: 'webhook-test',
  secret: 'webhook-certificates',
  mutating: 'webhook-test-mutating',
  validating: 'webhook-test-validating',
} as const;

/** The size that the validator refuses. */
export const tooLarge = 9;

export type CertificateTimes = Pick<
  SelfManagedCertificatesOptions,
  'authorityValidityMs' | 'servingValidityMs' | 'overlapMs' | 'checkIntervalMs'
>;

/** What webhooks and controller of a replica did. */
export interface ReplicaCounts {
  defaulted: number;
  validated: number;
  reconciled: number;
  /** Reasons for which it wrote the Secret. */
  readonly writes: string[];
}

/** A replica of an operator: a controller behind an election, and webhooks that every replica serves. */
export interface Replica {
  readonly port: number;
  readonly counts: ReplicaCounts;
  /** Its handlers, by path. */
  readonly webhooks: RegisteredWebhooks;
  /** Whether it leads, by its own account. */
  readonly isLeader: boolean;
  /** @throws while it is not ready to serve */
  check(): void;
  stop(): Promise<void>;
}

/** Starts a replica; resolves when it listens. */
export async function startReplica(options: {
  readonly connection: Connection;
  readonly identity: string;
  readonly times: CertificateTimes;
  /** Gets each line of its log. */
  readonly log: (line: string) => void;
  /** @default a free one */
  readonly port?: number;
}): Promise<Replica> {
  const { connection, identity, times, port = 0 } = options;
  const counts: ReplicaCounts = { defaulted: 0, validated: 0, reconciled: 0, writes: [] };
  const manager = await createManager({
    connection,
    logger: loggerTo(options.log, counts.writes),
    health: { host, port: 0 },
    cache: { defaultNamespaces: { [names.namespace]: {} } },
    leaderElection: {
      name: 'webhook-test',
      namespace: names.namespace,
      identity,
      leaseDurationMs: 4_000,
      renewDeadlineMs: 2_500,
      retryPeriodMs: 500,
    },
    webhook: {
      host,
      port,
      selfManagedCertificates: {
        ...times,
        secret: { name: names.secret, namespace: names.namespace },
        dnsNames: [serverName],
        inject: { mutating: [names.mutating], validating: [names.validating], crds: [crd.metadata.name ?? ''] },
      },
    },
  });
  controllerManagedBy(manager)
    .for(WidgetV1)
    .complete(async () => {
      counts.reconciled++;
    });
  webhookManagedBy(manager, WidgetV1)
    .withDefaulter((draft) => {
      counts.defaulted++;
      draft.spec.color ??= 'red';
    })
    .withValidator({
      validateCreate: ({ spec }) => validate(spec.size, counts),
      validateUpdate: (_old, { spec }) => validate(spec.size, counts),
    })
    .withConverter(converter)
    .complete();
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  running.catch(() => undefined);
  manager.elected.catch(() => undefined);
  while (manager.webhookServer.port === undefined) await Promise.race([running, sleep(20)]);
  return {
    port: manager.webhookServer.port,
    counts,
    webhooks: manager.webhookServer.webhooks ?? [],
    get isLeader() {
      return manager.isLeader;
    },
    check: () => manager.webhookServer.checkStarted(),
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

function validate(size: number, counts: ReplicaCounts): undefined {
  counts.validated++;
  if (size >= tooLarge) throw new Error(`size ${size} is too large`);
  return undefined;
}

/** JSON lines for a file; notes why the Secret is written. */
function loggerTo(log: (line: string) => void, writes: string[]): Logger {
  return createConsoleLogger({
    write: (line) => {
      log(line);
      if (!line.includes('wrote the certificate Secret')) return;
      const { reason = '' } = JSON.parse(line) as { reason?: string };
      writes.push(reason);
    },
  });
}

/** The manifests that lead to the replicas: each type of webhook to one of them, so that both serve all the time. */
export function manifestsOf(
  webhooks: RegisteredWebhooks,
  ports: { readonly mutating: number; readonly validating: number; readonly converting: number },
): readonly KubeObject[] {
  const toward = (port: number) => ({ url: `https://${serverName}:${port}` });
  const configurations = (port: number) =>
    webhookConfigurations(webhooks, { name: 'webhook-test', address: toward(port), operatorNamespace: 'operators' });
  const definition = withConversion(crd, { address: toward(ports.converting), converter });
  return [
    ...configurations(ports.mutating).filter(({ kind }) => kind === 'MutatingWebhookConfiguration'),
    ...configurations(ports.validating).filter(({ kind }) => kind === 'ValidatingWebhookConfiguration'),
    { ...definition, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  ];
}

/** A handshake as an API server makes it that trusts `ca`. @returns the certificate's fingerprint */
export async function handshake(port: number, ca: string): Promise<string> {
  const socket = connect({ host, port, ca, servername: serverName });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().fingerprint256;
  } finally {
    socket.destroy();
  }
}

/** Fingerprints of the certificates in a bundle, PEM. */
export function authoritiesIn(bundle: string): string[] {
  const pems = bundle.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  return pems.map((pem) => new X509Certificate(pem).fingerprint256);
}
