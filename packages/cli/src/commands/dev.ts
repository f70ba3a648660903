import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiServer } from '@kctl/apiserver';
import { createHttpClient, createRestMapper } from '@kctl/client-http';
import { listContexts } from '@kctl/kubeconfig';
import type { OperatorGraph } from '@kctl/operator';
import { sleep } from '@kctl/wait';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { parseAllDocuments } from 'yaml';
import { applyObjects, isManifest, waitEstablished, type ManifestObject } from '../apply-objects.js';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { takeLease } from '../dev/take-lease.js';
import { routeWebhooks } from '../dev/webhook-route.js';
import {
  pointConversions,
  pointWebhooks,
  restoreOriginals,
  saveOriginals,
  type Pointing,
} from '../dev/webhook-tunnel.js';
import { CliError, explain } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject, type Project } from '../project.js';
import { reloadCrds } from '../reload-crds.js';
import { runAndRestart } from '../run-and-restart.js';

/** How long giving a cluster back may take, in ms. */
const restoreMs = 10_000;
const listenPollMs = 100;

/** Options of {@link dev}. */
export interface DevOptions extends ClusterOptions {
  readonly main?: string;
  /** Folder of objects that are applied at the start. @default deploy/samples, where it is there */
  readonly samples?: string;
  /** Takes the Lease of a deployed copy that leads, and gives it back at the end. @default false */
  readonly takeOver?: boolean;
  /** Name or address by which the cluster reaches this machine. @default that of k3d, kind or minikube, by the context */
  readonly webhookHost?: string;
  /** Arguments for the operator. */
  readonly arguments: readonly string[];
}

/**
 * Runs the operator against an API server in this process, or the cluster that `context` or `kubeconfig` names, and
 * restarts it when a file of its folder changes; the server keeps its state. The API server calls its webhooks on this
 * machine; a cluster is what it was before when the command ends, or, after a crash, when it starts again. Resolves when the
 * signal is aborted.
 */
export async function dev(io: CliIo, options: DevOptions): Promise<void> {
  const project = readProject(io.cwd, options);
  const operator = await loadOperator(project);
  const graph = await operator.graph();
  const folder = mkdtempSync(join(tmpdir(), 'kctl-dev-'));
  try {
    await using server = await openServer(io, options, folder);
    const { cluster, isEmbedded } = server;
    if (isEmbedded) {
      await runOn(io, options, { project, graph, folder, server });
      return;
    }
    await restoreOriginals(io, cluster, graph, io.signal);
    const lease = await takeLease(io, cluster, { graph, takeOver: options.takeOver === true });
    const lost = new AbortController();
    lease?.ended.catch(() => lost.abort());
    try {
      await runOn({ ...io, signal: AbortSignal.any([io.signal, lost.signal]) }, options, {
        project,
        graph,
        folder,
        server,
      });
      if (lost.signal.aborted)
        throw new CliError('the lease was taken by another, and the operator has ended: is another kctl dev running?');
    } finally {
      // The signal of the command is aborted by now.
      await restoreOriginals(io, cluster, graph, AbortSignal.timeout(restoreMs));
      await lease?.release();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Session {
  readonly project: Project;
  readonly graph: OperatorGraph;
  readonly folder: string;
  readonly server: DevServer;
}

async function runOn(io: CliIo, options: DevOptions, { project, graph, folder, server }: Session): Promise<void> {
  const { cluster, isEmbedded } = server;
  const route = await routeWebhooks(io, cluster, {
    graph,
    arguments: options.arguments,
    folder,
    isEmbedded,
    context: server.context,
    host: options.webhookHost,
  });
  const pointing = route === undefined || route.url === '' ? undefined : { graph, route };
  if (pointing !== undefined && !isEmbedded) await saveOriginals(io, cluster, graph);
  const crds = graph.resources.map(({ manifest }): unknown => manifest).filter((each) => isManifest(each));
  await installCrds(io, cluster, crds);
  if (pointing !== undefined) await pointConversions(io, cluster, pointing);
  const samples = samplesOf(project, options);
  if (pointing === undefined) await applyObjects(io, cluster, samples);
  let installed = JSON.stringify(crds);
  const beforeRestart = async (): Promise<void> => {
    const changed = await reloadCrds(io, project);
    if (changed === undefined || JSON.stringify(changed) === installed) return;
    try {
      await installCrds(io, cluster, changed);
      installed = JSON.stringify(changed);
    } catch (error) {
      if (!io.signal.aborted) io.err(`kctl: ${explain(error)}\n`);
    }
  };
  const run = {
    arguments: [...options.arguments, ...(route?.arguments ?? [])],
    environment: server.environment,
    beforeRestart,
  };
  const ending = new AbortController();
  const running: CliIo = { ...io, signal: AbortSignal.any([io.signal, ending.signal]) };
  /** Webhooks that fail closed refuse writes until the operator listens, those of samples as well. */
  const begin = async (to: Pointing): Promise<void> => {
    await untilListening(to.route.port, running.signal);
    await pointWebhooks(running, cluster, to);
    await applyObjects(running, cluster, samples);
  };
  const begun = pointing === undefined ? Promise.resolve() : begin(pointing);
  begun.catch(() => ending.abort());
  try {
    await runAndRestart(running, project, run);
  } finally {
    ending.abort();
    await begun.catch(() => undefined);
  }
  // A failure has ended the program; otherwise the person has.
  if (!io.signal.aborted) await begun;
}

/** Resolves when a port of this machine takes connections. @throws the reason of the signal */
async function untilListening(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await sleep(listenPollMs, { signal });
  }
}

async function installCrds(io: CliIo, cluster: OpenCluster, crds: readonly ManifestObject[]): Promise<void> {
  await applyObjects(io, cluster, crds);
  await waitEstablished(io, cluster, crds);
  cluster.mapper.invalidate();
}

interface DevServer extends AsyncDisposable {
  /** In this process: nothing of it is left when that ends. */
  readonly isEmbedded: boolean;
  /** Of the kubeconfig. */
  readonly context: string | undefined;
  readonly cluster: OpenCluster;
  readonly environment: Readonly<Record<string, string>>;
}

async function openServer(io: CliIo, options: DevOptions, folder: string): Promise<DevServer> {
  if (options.kubeconfig !== undefined || options.context !== undefined) {
    const cluster = await openClient(io, options);
    const contexts = await listContexts(options.kubeconfig === undefined ? {} : { path: options.kubeconfig });
    const context = options.context ?? contexts.find(({ isCurrent }) => isCurrent)?.name;
    const environment = {
      ...(options.kubeconfig === undefined ? {} : { KUBECONFIG: options.kubeconfig }),
      ...(options.context === undefined ? {} : { CONTEXT: options.context }),
    };
    return {
      cluster,
      environment,
      isEmbedded: false,
      context,
      [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
    };
  }
  const server = createApiServer();
  await server.start();
  const kubeconfig = join(folder, 'kubeconfig');
  server.writeKubeconfig(kubeconfig);
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  const client = createHttpClient({ connection, program: 'kctl' });
  const mapper = createRestMapper({ transport: client.transport, kinds: builtInKinds });
  const close = async (): Promise<void> => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  io.err(`API server at ${server.url}; for kubectl: export KUBECONFIG=${kubeconfig}\n`);
  const cluster = { connection, client, mapper, [Symbol.asyncDispose]: close };
  return {
    cluster,
    environment: { KUBECONFIG: kubeconfig },
    isEmbedded: true,
    context: undefined,
    [Symbol.asyncDispose]: close,
  };
}

function samplesOf({ folder, output }: Project, { samples }: DevOptions): ManifestObject[] {
  const path = samples === undefined ? join(output, 'samples') : join(folder, samples);
  if (!existsSync(path)) {
    if (samples === undefined) return [];
    throw new CliError(`${samples} does not exist: name a folder of YAML files by --samples`);
  }
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .flatMap((name) =>
      parseAllDocuments(readFileSync(join(path, name), 'utf8')).map((document): unknown => document.toJS() as unknown),
    )
    .filter((each) => isManifest(each));
}
