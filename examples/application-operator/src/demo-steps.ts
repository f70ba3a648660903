import { createServer, type AddressInfo } from 'node:net';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { Client, FrameReader, ReadObject } from '@kctl/client';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import type { LogFields, Logger } from '@kctl/telemetry';
import { Application } from './application.js';

/** Writes the demo's output. */
export interface Narrator {
  /** Begins a chapter. */
  readonly step: (title: string) => void;
  readonly line: (text: string) => void;
}

/** Numbers the chapters and says when each line came. */
export function createNarrator(write: (line: string) => void, now: () => number): Narrator {
  const startedAt = now();
  let steps = 0;
  return {
    step: (title) => write(`\n── ${++steps}. ${title} ${'─'.repeat(Math.max(0, 70 - title.length))}`),
    line: (text) => write(`${((now() - startedAt) / 1000).toFixed(2).padStart(6)}s  ${text}`),
  };
}

/** The operator's log, shortened for people: whom a line is about, what happened, and why it failed. */
export function createStoryLogger(line: (text: string) => void, fields: LogFields = {}): Logger {
  const write = (message: string, extra: LogFields = {}): void => {
    const { name, error, controller, source } = { ...fields, ...extra };
    const about = controller !== undefined && typeof name === 'string' ? `${name}: ` : '';
    const what = typeof source === 'string' ? source : controller === undefined && typeof name === 'string' ? name : '';
    line(
      `  operator | ${about}${message}${what === '' ? '' : ` (${what})`}${error instanceof Error ? `: ${error.message}` : ''}`,
    );
  };
  return {
    isEnabled: (level) => level !== 'trace' && level !== 'debug',
    trace: () => undefined,
    debug: () => undefined,
    info: write,
    warn: write,
    error: write,
    child: (extra) => createStoryLogger(line, { ...fields, ...extra }),
  };
}

/** Applications and their children as a table. */
export async function describe(client: Client, namespace: string): Promise<string[]> {
  const [applications, deployments, services] = await Promise.all([
    client.list(Application, { namespace }),
    client.list(Deployment, { namespace }),
    client.list(Service, { namespace }),
  ]);
  const rows = applications.items.map((application) => {
    const { name } = application.metadata;
    const deployment = deployments.items.find(({ metadata }) => metadata.name === name);
    const service = services.items.find(({ metadata }) => metadata.name === name);
    return [
      name,
      application.spec.image,
      replicasOf(deployment),
      service?.spec?.clusterIP ?? '<none>',
      available(application),
    ];
  });
  return table([['APPLICATION', 'IMAGE', 'READY', 'SERVICE', 'AVAILABLE'], ...rows]);
}

/**
 * Plays what a kubelet and the Deployment controller do in a real cluster: marks every replica that is asked for as
 * ready. Resolves when the signal is aborted.
 */
export async function playKubelet(client: Client & FrameReader, namespace: string, signal: AbortSignal): Promise<void> {
  const informer = createSharedInformer({
    kind: Deployment,
    listerWatcher: listerWatcherFor(client, Deployment, { namespace }),
  });
  informer.addEventHandler({
    onAdd: (deployment) => markReady(client, deployment),
    onUpdate: (_old, deployment) => markReady(client, deployment),
  });
  await informer.run(signal);
}

async function markReady(client: Client, deployment: ReadObject<typeof Deployment>): Promise<void> {
  const { metadata, spec, status } = deployment;
  const replicas = spec?.replicas ?? 1;
  const { generation = 0 } = metadata;
  if (status?.readyReplicas === replicas && status.observedGeneration === generation) return;
  const next = {
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    updatedReplicas: replicas,
    observedGeneration: generation,
  };
  // Gone meanwhile, or changed again: the next event will tell.
  await client
    .status(Deployment)
    .patch(deployment, { type: 'merge', body: { status: next } })
    .catch(() => undefined);
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function replicasOf(deployment: ReadObject<typeof Deployment> | undefined): string {
  return deployment === undefined
    ? '<none>'
    : `${deployment.status?.readyReplicas ?? 0}/${deployment.spec?.replicas ?? 1}`;
}

function available({ status }: ReadObject<typeof Application>): string {
  return status?.conditions?.find(({ type }) => type === 'Available')?.status ?? 'Unknown';
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}
