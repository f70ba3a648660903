import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as resolvePath } from 'node:path';
import { noopLogger, type Logger } from '@kctl/telemetry';
import { loggerOption } from '@kctl/telemetry/internal';
import { systemClock } from '@kctl/wait';
import {
  booleanOption,
  listOption,
  numberOption,
  objectOption,
  type OptionNames,
  requireOptions,
  signalOption,
  textOption,
} from '@kctl/options';
import { findBinaries, versionOf, type ApiServerBinaries } from './binaries.js';
import type { CertificateAndKey, CertificateSubject } from './certificates.js';
import { startComponent, waitUntilReady, type Component } from './component.js';
import { EnvironmentStartError, NoBinariesError } from './errors.js';
import { apiServerFlags, controllerManagerFlags, etcdFlags } from './flags.js';
import { startGuardian, type Guardian } from './guardian.js';
import { kubeconfigYaml } from './kubeconfig.js';
import { ensurePki, type StaticToken } from './pki.js';
import { resolveTimeouts, type ControlPlaneTimeouts } from './timeouts.js';

/** Between choosing a free port and binding it another process may take it. */
const portAttempts = 3;

/** Options of {@link startRealApiServer}. */
export interface RealApiServerOptions extends ControlPlaneTimeouts {
  /** @default what {@link findBinaries} finds */
  readonly binaries?: ApiServerBinaries;
  /**
   * Also runs the garbage collector, namespace and service account controllers. Without them owned objects stay,
   * namespaces stay Terminating, and ServiceAccount admission is off.
   *
   * @default false
   */
  readonly controllerManager?: boolean;
  /** Aborts the start; once started, stops the server. */
  readonly signal?: AbortSignal;
  /** Keeps etcd's data and the credentials here, for a restart on the same state. @default a temporary folder, removed on stop */
  readonly dataDir?: string;
  /** @default a free one */
  readonly port?: number;
  /** Static bearer tokens besides the admin's. */
  readonly tokens?: readonly StaticToken[];
  /** Further flags of kube-apiserver; they win over ours. */
  readonly apiServerFlags?: readonly string[];
  /** Further flags of etcd; they win over ours. */
  readonly etcdFlags?: readonly string[];
  readonly logger?: Logger;
}

/** A running kube-apiserver with its own etcd. */
export interface RealApiServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  /** E.g. `v1.36.3`. */
  readonly version: string;
  /** Admin; contexts `kctl` (client certificate, current) and `kctl-token`. */
  readonly kubeconfigPath: string;
  readonly caPem: string;
  /** Bearer token of the group system:masters. */
  readonly adminToken: string;
  /** Client certificate of the group system:masters. */
  readonly adminCertificate: CertificateAndKey;
  /** A client certificate for any user and groups, to test with fewer rights. */
  issueClientCertificate(subject: CertificateSubject): Promise<CertificateAndKey>;
  /** Plain HTTP, with etcd's JSON gateway (`POST /v3/kv/compaction`). */
  readonly etcdUrl: string;
  readonly dataDir: string;
  /** By binary name. */
  readonly components: Readonly<Record<string, { readonly pid: number; readonly logFile: string }>>;
  /** Resolves with the reason when a component ends by itself, or with undefined after a stop. */
  readonly ended: Promise<string | undefined>;
  /** Ends everything in order; joins a stop that is under way. */
  stop(): Promise<void>;
  /** The same by SIGKILL, as in a crash. */
  kill(): Promise<void>;
}

const optionNames: OptionNames<RealApiServerOptions> = {
  binaries: objectOption('paths of binaries, such as findBinaries() returns'),
  controllerManager: booleanOption,
  signal: signalOption,
  startTimeout: true,
  stopTimeout: true,
  dataDir: textOption,
  port: numberOption({ least: 0, most: 65_535, integer: true }),
  tokens: listOption('a list of tokens'),
  apiServerFlags: listOption('a list of flags', textOption),
  etcdFlags: listOption('a list of flags', textOption),
  logger: loggerOption,
};

/**
 * Starts a server and resolves when `/readyz` answers 200 (and, with the controller manager, when it works).
 *
 * @throws NoBinariesError
 * @throws EnvironmentStartError with the last log lines
 */
export async function startRealApiServer(options: RealApiServerOptions = {}): Promise<RealApiServer> {
  requireOptions('startRealApiServer', options, optionNames);
  const { controllerManager = false, logger = noopLogger } = options;
  const binaries = options.binaries ?? (await findBinaries({ controllerManager }));
  if (controllerManager && binaries.kubeControllerManager === undefined)
    throw new NoBinariesError('binaries.kubeControllerManager is not set, but controllerManager is asked for');
  const version = binaries.version ?? (await versionOf(binaries.kubeApiserver));
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce({ ...binaries, version }, options, logger);
    } catch (error) {
      const portTaken = error instanceof EnvironmentStartError && error.message.includes('address already in use');
      if (!portTaken || options.port !== undefined || attempt === portAttempts) throw error;
      logger.warn('a port was taken by another process, trying other ports');
    }
  }
}

type KnownBinaries = ApiServerBinaries & { readonly version: string };

async function startOnce(
  binaries: KnownBinaries,
  options: RealApiServerOptions,
  logger: Logger,
): Promise<RealApiServer> {
  const started = systemClock.monotonicNow();
  const { startMs, stopMs } = resolveTimeouts(options, process.env);
  const temporary = options.dataDir === undefined;
  const dataDir =
    options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'kctl-apiserver-')) : resolvePath(options.dataDir);
  const guardian = startGuardian(temporary ? dataDir : undefined);
  const components: Component[] = [];
  const ended = Promise.withResolvers<string | undefined>();
  let stopped: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    options.signal?.removeEventListener('abort', stopOnAbort);
    try {
      // Last started, first stopped, so that no process loses the one that it depends on.
      for (const component of components.toReversed()) await component.stop(stopMs);
      if (temporary) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    } finally {
      await guardian.dismiss();
      ended.resolve(undefined);
    }
  };
  const stop = (): Promise<void> => (stopped ??= stopAll());
  const kill = async (): Promise<void> => {
    await Promise.all(components.map((component) => component.stop(0)));
    await stop();
  };
  const stopOnAbort = (): void => void stop().catch((error: unknown) => logger.error('stop failed', { error }));
  const onUnexpectedExit = (reason: string): void => {
    logger.warn(reason);
    ended.resolve(reason);
  };
  try {
    const server = await launch({ binaries, options, startMs, dataDir, guardian, components, onUnexpectedExit });
    options.signal?.throwIfAborted();
    options.signal?.addEventListener('abort', stopOnAbort, { once: true });
    logger.info('kube-apiserver is ready', {
      url: server.url,
      version: binaries.version,
      seconds: (systemClock.monotonicNow() - started) / 1000,
    });
    return { ...server, ended: ended.promise, stop, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

interface Launch {
  readonly binaries: KnownBinaries;
  readonly options: RealApiServerOptions;
  readonly startMs: number;
  readonly dataDir: string;
  readonly guardian: Guardian;
  /** Filled as they start, for the stop. */
  readonly components: Component[];
  readonly onUnexpectedExit: (reason: string) => void;
}

async function launch({
  binaries,
  options,
  startMs,
  dataDir,
  guardian,
  components,
  onUnexpectedExit,
}: Launch): Promise<Omit<RealApiServer, 'ended' | 'stop' | 'kill'>> {
  const { controllerManager = false, signal = new AbortController().signal } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const [pki, [etcdPort, freePort]] = await Promise.all([
    ensurePki(join(dataDir, 'pki'), options.tokens ?? [], systemClock.now()),
    freePorts(),
  ]);
  const port = options.port ?? freePort;
  const url = `https://127.0.0.1:${port}`;
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const kubeconfigPath = join(dataDir, 'kubeconfig');
  await writeFile(
    kubeconfigPath,
    kubeconfigYaml({ url, caPem: pki.caPem, certificate: pki.admin, token: pki.adminToken }),
    { mode: 0o600 },
  );

  const start = async (name: string, path: string, args: readonly string[]): Promise<Component> => {
    const component = await startComponent({
      name,
      path,
      args,
      logFile: join(dataDir, `${name}.log`),
      guardian,
      onUnexpectedExit,
    });
    components.push(component);
    return component;
  };
  const ready = { timeoutMs: startMs, signal };
  const asAdmin = { caPem: pki.caPem, token: pki.adminToken };
  const etcd = await start('etcd', binaries.etcd, [
    ...etcdFlags({ etcdUrl, folder: join(dataDir, 'etcd') }),
    ...(options.etcdFlags ?? []),
  ]);
  await waitUntilReady(etcd, { url: `${etcdUrl}/health` }, ready);
  const apiServer = await start('kube-apiserver', binaries.kubeApiserver, [
    ...apiServerFlags({ etcdUrl, port, pki, folder: join(dataDir, 'pki'), serviceAccounts: controllerManager }),
    ...(options.apiServerFlags ?? []),
  ]);
  await waitUntilReady(apiServer, { url: `${url}/readyz`, ...asAdmin }, ready);
  if (binaries.kubeControllerManager !== undefined && controllerManager) {
    const manager = await start(
      'kube-controller-manager',
      binaries.kubeControllerManager,
      controllerManagerFlags({ kubeconfigPath, pki }),
    );
    // Pods are refused before their namespace has its default service account, so it is the last thing to wait for.
    await waitUntilReady(
      manager,
      { url: `${url}/api/v1/namespaces/default/serviceaccounts/default`, ...asAdmin },
      ready,
    );
  }
  return {
    url,
    port,
    version: binaries.version,
    kubeconfigPath,
    caPem: pki.caPem,
    adminToken: pki.adminToken,
    adminCertificate: pki.admin,
    issueClientCertificate: (subject) => pki.issueClientCertificate(subject),
    etcdUrl,
    dataDir,
    components: Object.fromEntries(components.map(({ name, pid, logFile }) => [name, { pid, logFile }])),
  };
}

/** Two different ports that were free a moment ago. */
async function freePorts(): Promise<[number, number]> {
  const reserve = async (): Promise<Server> => {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return server;
  };
  const [first, second] = await Promise.all([reserve(), reserve()]);
  const release = async (server: Server): Promise<number> => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  };
  return await Promise.all([release(first), release(second)]);
}
