import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createApiServer } from '@kctl/apiserver';
import { createHttpClient, createRestMapper } from '@kctl/client-http';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { parseAllDocuments } from 'yaml';
import { applyObjects, isManifest, waitEstablished, type ManifestObject } from '../apply-objects.js';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject, shownPath, type Project } from '../project.js';

/** Options of {@link dev}. */
export interface DevOptions extends ClusterOptions {
  readonly main?: string;
  /** Folder of objects that are applied at the start. @default deploy/samples, where it is there */
  readonly samples?: string;
  /** Arguments for the operator. */
  readonly arguments: readonly string[];
}

/** How long after a change of a file the operator is restarted, in ms: editors write a file in several steps. */
const settleMs = 100;

/**
 * Runs the operator against an API server in this process, or the cluster that `context` or `kubeconfig` names, and
 * restarts it when a file of its folder changes; the server keeps its state. Resolves when the signal is aborted.
 */
export async function dev(io: CliIo, options: DevOptions): Promise<void> {
  const project = readProject(io.cwd, options);
  const operator = await loadOperator(project);
  const folder = mkdtempSync(join(tmpdir(), 'kctl-dev-'));
  try {
    await using server = await openServer(io, options, folder);
    const crds = operator.resources.map(({ manifest }): unknown => manifest).filter((each) => isManifest(each));
    await applyObjects(io, server.cluster, crds);
    await waitEstablished(
      io,
      server.cluster,
      crds.map(({ metadata }) => metadata.name),
    );
    server.cluster.mapper.invalidate();
    await applyObjects(io, server.cluster, samplesOf(project, options));
    await runAndRestart(io, project, { arguments: options.arguments, environment: server.environment });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface DevServer extends AsyncDisposable {
  readonly cluster: OpenCluster;
  readonly environment: Readonly<Record<string, string>>;
}

async function openServer(io: CliIo, options: DevOptions, folder: string): Promise<DevServer> {
  if (options.kubeconfig !== undefined || options.context !== undefined) {
    const cluster = await openClient(io, options);
    const environment = {
      ...(options.kubeconfig === undefined ? {} : { KUBECONFIG: options.kubeconfig }),
      ...(options.context === undefined ? {} : { CONTEXT: options.context }),
    };
    return { cluster, environment, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
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
  return { cluster, environment: { KUBECONFIG: kubeconfig }, [Symbol.asyncDispose]: close };
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

interface RunOptions {
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs the program; a change of a file next to it, or below, ends it and starts it anew. */
async function runAndRestart(io: CliIo, project: Project, options: RunOptions): Promise<void> {
  const ended = Promise.withResolvers<undefined>();
  const watched = dirname(project.main);
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    const args = [...process.execArgv, project.main, '--log-format', 'text', ...options.arguments];
    const started = spawn(process.execPath, args, {
      cwd: project.folder,
      env: { ...io.environment, POD_NAMESPACE: 'default', ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    started.stdout.on('data', (text: Buffer) => io.out(text.toString()));
    started.stderr.on('data', (text: Buffer) => io.err(text.toString()));
    started.once('exit', (code, signal) => {
      if (child !== started || io.signal.aborted) return;
      child = undefined;
      io.err(`the operator ended with ${signal ?? `code ${code ?? ''}`}: it starts again when a file changes\n`);
    });
  };
  const stop = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGTERM');
    await exited;
  };
  const restart = async (name: string): Promise<void> => {
    await stop();
    if (io.signal.aborted) return;
    io.err(`restarted: ${name} changed\n`);
    start();
  };
  const watcher = watch(watched, { recursive: true }, (_event, name) => {
    clearTimeout(timer);
    // eslint-disable-next-line no-restricted-globals -- as above
    timer = setTimeout(() => void restart(name ?? shownPath(project.folder, watched)), settleMs);
  });
  io.signal.addEventListener('abort', () => ended.resolve(undefined), { once: true });
  if (io.signal.aborted) ended.resolve(undefined);
  start();
  await ended.promise;
  watcher.close();
  await stop();
}
