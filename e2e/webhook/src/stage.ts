import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { startServer, type FaultyServer } from '@kctl/e2e-leader-election/server';
import { eventually } from '@kctl/testing';
import { applyWebhookManifests } from '@kctl/webhook';
import { createObjects } from './load.js';
import { manifestsOf, names, startReplica, tooLarge, type CertificateTimes, type Replica } from './replica.js';
import { crd, WidgetV2 } from './widget.js';

/** A server, two replicas that made their certificates at the same moment, and a client for the load. */
export interface Stage extends AsyncDisposable {
  readonly server: FaultyServer;
  readonly client: HttpClient;
  readonly replicas: Replica[];
  /** Last lines of the log of all replicas. */
  readonly log: readonly string[];
  startReplica(identity: string, port?: number): Promise<Replica>;
  /** The authorities that the API server is told to trust, PEM, by each of the three that call. */
  bundles(): Promise<readonly string[]>;
}

const keptLines = 2_000;

/** Starts everything, and resolves when webhooks and conversion are in effect. */
export async function setUp(kind: 'embedded' | 'real', times: CertificateTimes): Promise<Stage> {
  const server = await startServer(kind);
  const { connection } = server;
  const client = createHttpClient({ connection });
  const replicas: Replica[] = [];
  const log: string[] = [];
  const start = async (identity: string, port = 0): Promise<Replica> => {
    const note = (line: string): void => {
      log.push(line);
      if (log.length > keptLines) log.shift();
    };
    const replica = await startReplica({ connection, identity, times, log: note, port });
    replicas.push(replica);
    return replica;
  };
  const stage: Stage = {
    server,
    client,
    replicas,
    log,
    startReplica: start,
    bundles: () => bundlesOf(client),
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(replicas.map((replica) => replica.stop()));
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
  try {
    await client.create(Namespace, { metadata: { name: names.namespace } });
    // At the same moment, without a Secret: one makes it, the other takes it.
    const [first, second] = await Promise.all([start('first'), start('second')]);
    // The controllers of the replicas wait for the definition, the certificates for all that they are written into.
    const ports = { mutating: first.port, validating: second.port, converting: first.port };
    await applyWebhookManifests(client, manifestsOf(first.webhooks, ports), { fieldOwner: 'installation' });
    await eventually(
      () => {
        first.check();
        second.check();
      },
      { timeoutMs: 150_000 },
    );
    // The API server acts on configurations a moment after they were written.
    await eventually(() => requireInEffect(client), { timeoutMs: 150_000 });
    await createObjects(client);
    return stage;
  } catch (error) {
    await stage[Symbol.asyncDispose]();
    throw error;
  }
}

/** A dry run that needs the defaulter, the validator and the converter. @throws until all are in effect */
export async function requireInEffect(client: HttpClient): Promise<void> {
  const widget = (width: number) => ({
    metadata: { namespace: names.namespace, generateName: 'probe-' },
    spec: { width },
  });
  const made = await client.create(WidgetV2, widget(1), { dryRun: true });
  if (made.spec.color !== 'red' || made.spec.width !== 1)
    throw new Error('the defaulter or the converter is not called');
  const outcome = await client.create(WidgetV2, widget(tooLarge), { dryRun: true }).catch((error: unknown) => error);
  if (!(outcome instanceof Error) || !outcome.message.includes('is too large'))
    throw new Error('the validator is not called');
}

async function bundlesOf(client: HttpClient): Promise<readonly string[]> {
  const [mutating, validating, definition] = await Promise.all([
    client.get(MutatingWebhookConfiguration, { name: names.mutating }),
    client.get(ValidatingWebhookConfiguration, { name: names.validating }),
    client.get(CustomResourceDefinition, { name: crd.metadata.name ?? '' }),
  ]);
  return [
    mutating.webhooks?.[0]?.clientConfig,
    validating.webhooks?.[0]?.clientConfig,
    definition.spec.conversion?.webhook?.clientConfig,
  ].map((config) => Buffer.from(config?.caBundle ?? '', 'base64').toString());
}
