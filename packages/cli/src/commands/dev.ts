import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '@kctl/wait';
import { applyObjects, isManifest, waitEstablished, type ManifestObject } from '../deploy/apply-objects.js';
import type { ClusterOptions, OpenCluster } from '../cluster.js';
import { createTypeCheck, type TypeCheck } from '../dev/check-types.js';
import { devInspection, openOnKey } from '../dev/dev-inspection.js';
import { openDevRecord } from '../dev/dev-record.js';
import { openServer, type DevServer } from '../dev/dev-server.js';
import { placesOf, restoreOriginals } from '../dev/originals.js';
import { onLoopback } from '../dev/on-loopback.js';
import { reloadOperator } from '../dev/reload-operator.js';
import { samplesOf } from '../dev/samples.js';
import { claimSession } from '../dev/dev-session.js';
import type { HeldLease } from '../dev/hold-lease.js';
import { takeLease } from '../dev/take-lease.js';
import { createTunnel, type Tunnel } from '../dev/tunnel.js';
import type { HookedOperator } from '../dev/webhook-tunnel.js';
import { CliError, explain } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject, type Project } from '../project.js';
import { runAndRestart } from '../run-and-restart.js';
import { warnOfStoredObjects } from '../deploy/stored-objects.js';
import { startGuardian } from '../start-guardian.js';

/** How long giving a cluster back may take, in ms. */
const restoreMs = 10_000;
const listenPollMs = 100;

/** Options of {@link dev}. */
export interface DevOptions extends ClusterOptions {
  readonly main?: string;
  /** Folder of objects that are applied at the start. @default deploy/samples, if it exists */
  readonly samples?: string;
  /** Takes the Lease of a deployed copy that leads, and gives it back at the end; ends another run of the command. @default false */
  readonly takeOver?: boolean;
  /** Name or address by which the cluster reaches this machine. @default that of k3d, kind or minikube, by the context */
  readonly webhookHost?: string;
  /** Everything that is printed is JSON, a line each. @default false */
  readonly json?: boolean;
  /** Arguments for the operator. */
  readonly arguments: readonly string[];
}

/**
 * Runs the operator against an API server in this process, or the cluster that `context` or `kubeconfig` names, and
 * restarts it when a file of its folder changes; the server keeps its state. Errors of types are printed beside the run. The API server calls its webhooks on this
 * machine. A cluster is restored when the command ends, even by a crash, by a process that outlives it. The operator
 * runs with its inspection, whose page `i` opens. Resolves when the signal is aborted.
 */
export async function dev(given: CliIo, options: DevOptions): Promise<void> {
  const io = options.json === true ? { ...given, err: (text: string) => given.err(asLines(text)) } : given;
  refuseWithoutCluster(options);
  const project = readProject(io.cwd, options);
  const samples = samplesOf(project, options);
  const graph = await (await loadOperator(project)).graph();
  const folder = mkdtempSync(join(tmpdir(), 'kctl-dev-'));
  const session = randomUUID();
  await using guardian = startGuardian(io);
  const orders = { folder, session, operator: graph.name, places: [] };
  await guardian.order(orders);
  try {
    await using server = await openServer(io, options, { folder, project: project.folder });
    const { cluster, isEmbedded } = server;
    const access = {
      ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }),
      ...(options.context === undefined ? {} : { context: options.context }),
    };
    const record = openDevRecord(io.environment);
    const tunnel = createTunnel({
      server,
      settings: graph.settings,
      arguments: options.arguments,
      host: options.webhookHost,
      folder,
      session,
      record,
      guardian,
      access,
    });
    const environment = { ...server.environment, ...(await onLoopback(io, options.arguments, graph.settings)) };
    const types = createTypeCheck(io, { folder: project.folder, cache: folder });
    const run = { project, operator: graph, samples, server, environment, tunnel, types, output: given };
    if (isEmbedded) {
      await runOn(io, options, run);
      return;
    }
    // First the guardian knows, then it is done.
    await guardian.order({ ...orders, cluster: access });
    const takeOver = options.takeOver === true;
    const claim = await claimSession(io, cluster, { operator: graph.name, session, takeOver });
    const lost = new AbortController();
    const held: (HeldLease | undefined)[] = [claim];
    try {
      await restoreOriginals(io, cluster, { places: placesOf(graph), record, signal: io.signal });
      held.unshift(await takeLease(io, cluster, { graph, takeOver }));
      for (const lease of held) lease?.ended.catch(() => lost.abort());
      await runOn({ ...io, signal: AbortSignal.any([io.signal, lost.signal]) }, options, run);
      if (lost.signal.aborted)
        throw new CliError('another kctl dev has taken over, or the lease was taken: the operator has ended here');
    } finally {
      // The signal of the command is aborted by now.
      await tunnel.close(io, AbortSignal.timeout(restoreMs));
      for (const lease of held) await lease?.release();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws CliError for an option that means something in a cluster alone */
function refuseWithoutCluster({ kubeconfig, context, takeOver, webhookHost }: DevOptions): void {
  if (kubeconfig !== undefined || context !== undefined) return;
  const names = [
    ...(takeOver === true ? ['--take-over'] : []),
    ...(webhookHost === undefined ? [] : ['--webhook-host']),
  ];
  if (names.length === 0) return;
  throw new CliError(
    `${names.join(' and ')} of kctl dev: name the cluster by --context or --kubeconfig; its own server needs neither`,
    { exitCode: 2 },
  );
}

interface Run {
  readonly project: Project;
  readonly operator: HookedOperator;
  /** Applied once, when the operator has started. */
  readonly samples: readonly ManifestObject[];
  readonly server: DevServer;
  /** Of the operator. */
  readonly environment: Readonly<Record<string, string>>;
  readonly tunnel: Tunnel;
  readonly types: TypeCheck;
  /** Of the operator, as it prints. */
  readonly output: Pick<CliIo, 'out' | 'err'>;
}

/** Lines of the command as JSON. */
function asLines(text: string): string {
  return text
    .split('\n')
    .map((message) => (message === '' ? '' : JSON.stringify({ source: 'kctl', message })))
    .join('\n');
}

async function runOn(
  io: CliIo,
  options: DevOptions,
  { project, operator, samples, server, environment, tunnel, types, output }: Run,
): Promise<void> {
  const { cluster } = server;
  const ending = new AbortController();
  const running: CliIo = { ...io, signal: AbortSignal.any([io.signal, ending.signal]) };
  let missing = samples;
  let installed = '';
  const bring = async (next: HookedOperator): Promise<void> => {
    const crds = crdsOf(next);
    await tunnel.prepare(running, next);
    if (JSON.stringify(crds) !== installed) await installCrds(running, cluster, crds);
    installed = JSON.stringify(crds);
    await tunnel.pointConversions(running);
  };
  await bring(operator);
  /** Webhooks that fail closed refuse writes until the operator listens, those of samples as well. */
  const begin = async (starting: CliIo): Promise<void> => {
    const { address } = tunnel;
    if (address !== undefined) await untilListening(address, starting.signal);
    await tunnel.pointWebhooks(starting);
    await applyObjects(starting, cluster, missing);
    missing = [];
  };
  let isFirst = true;
  let failure: Error | undefined;
  const inspection = await devInspection(io, options.arguments);
  const leaveKeys = openOnKey(io, inspection);
  await runAndRestart(running, project, {
    arguments: () => [...options.arguments, ...tunnel.arguments],
    environment: { ...environment, ...inspection.environment },
    output,
    logFormat: options.json === true ? 'json' : 'text',
    beforeRestart: async () => {
      const changed = await reloadOperator(running, project, operator);
      if (changed === undefined) return;
      await bring(changed).catch((error: unknown) => {
        if (!running.signal.aborted) io.err(`kctl: ${explain(error)}\n`);
      });
    },
    onStart: async (signal) => {
      const isInitial = isFirst;
      isFirst = false;
      const checking = types.run(AbortSignal.any([running.signal, signal]));
      try {
        await begin({ ...running, signal: AbortSignal.any([running.signal, signal]) });
      } catch (error) {
        if (signal.aborted || running.signal.aborted) return;
        if (!isInitial) {
          io.err(`kctl: ${explain(error)}\n`);
          return;
        }
        // An error at the start ends the command.
        failure = error instanceof Error ? error : new CliError(String(error));
        ending.abort();
      } finally {
        await checking;
      }
    },
  }).finally(leaveKeys);
  if (failure !== undefined) throw failure;
}

/** Resolves when an address of this machine takes connections. @throws the reason of the signal */
async function untilListening(
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const socket = connect(port, host);
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
  await warnOfStoredObjects(io, cluster, crds);
  await applyObjects(io, cluster, crds);
  await waitEstablished(io, cluster, crds);
  cluster.mapper.invalidate();
}

function crdsOf({ resources }: HookedOperator): readonly ManifestObject[] {
  return resources.map(({ manifest }): unknown => manifest).filter((each) => isManifest(each));
}
