/**
 * Starts a real kube-apiserver with its own etcd on loopback, and optionally a kube-controller-manager.
 *
 * As a command: `node start.mjs [--controller-manager] [--port N] [--data-dir DIR]`; see README.md.
 */
import { realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBinaries } from './build.mjs';
import { StartError, startComponent, waitUntilReady } from './component.mjs';
import { apiServerFlags, controllerManagerFlags, etcdFlags } from './flags.mjs';
import { startGuardian } from './guardian.mjs';
import { kubeconfigYaml } from './kubeconfig.mjs';
import { ensurePki } from './pki.mjs';

const READY_TIMEOUT_MS = 60_000;
/** How long a component may take to end after SIGTERM: kube-apiserver would wait a minute for its open watches. */
const STOP_GRACE_MS = 2_000;
/** Between choosing a free port and binding it somebody else may take it. */
const PORT_ATTEMPTS = 3;

/**
 * @typedef {object} RealApiServerOptions
 * @property {boolean} [controllerManager] also run the garbage collector, namespace and service account controllers;
 *   default false: then owned objects stay, namespaces stay Terminating, and ServiceAccount admission is off
 * @property {AbortSignal} [signal] aborts the start; once started, stops the server
 * @property {string} [dataDir] keeps etcd's data and the credentials here, for a restart on the same state;
 *   default: a temporary folder, removed on stop
 * @property {number} [port] default: a free one
 * @property {import('./pki.mjs').StaticToken[]} [tokens] static bearer tokens besides the admin's
 * @property {string[]} [apiServerFlags] further flags of kube-apiserver; they win over ours
 * @property {string[]} [etcdFlags] further flags of etcd; they win over ours
 * @property {(line: string) => void} [log] told what is being done; default: a line on stderr
 *
 * @typedef {object} RealApiServer
 * @property {string} url `https://127.0.0.1:PORT`
 * @property {number} port
 * @property {string} version as `v1.36.3`
 * @property {string} kubeconfigPath admin; contexts `kctl` (client certificate, current) and `kctl-token`
 * @property {string} caPem
 * @property {string} adminToken bearer token of the group system:masters
 * @property {import('./pki.mjs').CertificateAndKey} adminCertificate client certificate of the group system:masters
 * @property {(subject: import('./pki.mjs').Subject) => import('./pki.mjs').CertificateAndKey} issueClientCertificate
 *   a client certificate for any user and groups, to test as somebody with fewer rights
 * @property {string} etcdUrl plain HTTP, with etcd's JSON gateway (`POST /v3/kv/compaction`)
 * @property {string} dataDir
 * @property {Record<string, { pid: number, logFile: string }>} components by binary name
 * @property {Promise<string | undefined>} ended resolves with the reason when a component ends by itself, or with
 *   undefined after a stop
 * @property {() => Promise<void>} stop ends everything in order; joins a stop that is under way
 * @property {() => Promise<void>} kill the same by SIGKILL, as in a crash
 */

/**
 * Starts a server and resolves when `/readyz` answers 200 (and, with the controller manager, when it works).
 *
 * @param {RealApiServerOptions} [options]
 * @returns {Promise<RealApiServer>}
 * @throws {import('./build.mjs').NoBinariesError} `code: 'NO_BINARIES'`: neither binaries nor Go
 * @throws {import('./component.mjs').StartError} `code: 'START_FAILED'`, with the last log lines
 */
export async function startRealApiServer(options = {}) {
  const { controllerManager = false, log = logToStderr, signal } = options;
  const binaries = await ensureBinaries({ controllerManager, log, signal });
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(binaries, options, log);
    } catch (error) {
      const portTaken = error instanceof StartError && error.message.includes('address already in use');
      if (!portTaken || options.port !== undefined || attempt === PORT_ATTEMPTS) throw error;
      log('a port was taken by somebody else, trying other ones');
    }
  }
}

/**
 * @param {import('./build.mjs').Binaries} binaries
 * @param {RealApiServerOptions} options
 * @param {(line: string) => void} log
 * @returns {Promise<RealApiServer>}
 */
async function startOnce(binaries, options, log) {
  const started = Date.now();
  const temporary = options.dataDir === undefined;
  const dataDir = temporary
    ? await mkdtemp(join(tmpdir(), 'kctl-apiserver-'))
    : resolvePath(/** @type {string} */ (options.dataDir));
  const guardian = startGuardian(temporary ? dataDir : undefined);
  /** @type {import('./component.mjs').Component[]} */
  const components = [];
  const ended = deferred();
  /** @type {Promise<void> | undefined} */
  let stopped;
  const stop = () => {
    stopped ??= (async () => {
      options.signal?.removeEventListener('abort', stopOnAbort);
      try {
        // Last started, first stopped: nobody loses what it talks to.
        for (const component of components.toReversed()) await component.stop(STOP_GRACE_MS);
        if (temporary) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
      } finally {
        await guardian.dismiss();
        ended.resolve(undefined);
      }
    })();
    return stopped;
  };
  const kill = async () => {
    await Promise.all(components.map((component) => component.stop(0)));
    await stop();
  };
  const stopOnAbort = () => void stop().catch((error) => log(`stop failed: ${error.message}`));
  const onUnexpectedExit = (/** @type {string} */ reason) => {
    log(reason);
    ended.resolve(reason);
  };

  try {
    const server = await launch({ binaries, options, dataDir, guardian, components, onUnexpectedExit });
    options.signal?.throwIfAborted();
    options.signal?.addEventListener('abort', stopOnAbort, { once: true });
    log(`${binaries.version} is ready on ${server.url} after ${((Date.now() - started) / 1000).toFixed(1)} s`);
    return { ...server, ended: ended.promise, stop, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}

/**
 * @param {object} context
 * @param {import('./build.mjs').Binaries} context.binaries
 * @param {RealApiServerOptions} context.options
 * @param {string} context.dataDir
 * @param {import('./guardian.mjs').Guardian} context.guardian
 * @param {import('./component.mjs').Component[]} context.components filled as they start, for the stop
 * @param {(reason: string) => void} context.onUnexpectedExit
 */
async function launch({ binaries, options, dataDir, guardian, components, onUnexpectedExit }) {
  const { controllerManager = false, signal = new AbortController().signal } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const [pki, [etcdPort, freePort]] = await Promise.all([
    ensurePki(join(dataDir, 'pki'), options.tokens ?? []),
    freePorts(),
  ]);
  const port = options.port ?? freePort;
  const url = `https://127.0.0.1:${port}`;
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const kubeconfigPath = join(dataDir, 'kubeconfig');
  await writeFile(kubeconfigPath, kubeconfigYaml({ url, pki }), { mode: 0o600 });

  const start = async (/** @type {string} */ name, /** @type {string} */ path, /** @type {string[]} */ args) => {
    const logFile = join(dataDir, `${name}.log`);
    const component = await startComponent({ name, path, args, logFile, guardian, onUnexpectedExit });
    components.push(component);
    return component;
  };
  const ready = { timeoutMs: READY_TIMEOUT_MS, signal };
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
  if (controllerManager) {
    const path = /** @type {string} */ (binaries.kubeControllerManager);
    const manager = await start('kube-controller-manager', path, controllerManagerFlags({ kubeconfigPath, pki }));
    // Pods are refused before their namespace has its default service account: the last thing to wait for.
    const defaultAccount = `${url}/api/v1/namespaces/default/serviceaccounts/default`;
    await waitUntilReady(manager, { url: defaultAccount, ...asAdmin }, ready);
  }
  return {
    url,
    port,
    version: binaries.version,
    kubeconfigPath,
    caPem: pki.caPem,
    adminToken: pki.adminToken,
    adminCertificate: pki.admin,
    issueClientCertificate: pki.issueClientCertificate,
    etcdUrl,
    dataDir,
    components: Object.fromEntries(components.map(({ name, pid, logFile }) => [name, { pid, logFile }])),
  };
}

/**
 * Two different ports that were free a moment ago.
 *
 * @returns {Promise<[number, number]>}
 */
async function freePorts() {
  const reserve = async () => {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return server;
  };
  const [first, second] = await Promise.all([reserve(), reserve()]);
  const release = async (/** @type {import('node:net').Server} */ server) => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    await new Promise((resolve) => server.close(resolve));
    return port;
  };
  return Promise.all([release(first), release(second)]);
}

function deferred() {
  /** @type {(reason: string | undefined) => void} */
  let resolve = () => {};
  /** @type {Promise<string | undefined>} */
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** @param {string} line */
function logToStderr(line) {
  process.stderr.write(`kube-apiserver: ${line}\n`);
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      'controller-manager': { type: 'boolean', default: false },
      port: { type: 'string' },
      'data-dir': { type: 'string' },
    },
  });
  const abort = new AbortController();
  /** @type {RealApiServer | undefined} */
  let server;
  let signals = 0;
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(name, () => {
      abort.abort(new Error(`stopped by ${name}`));
      if (++signals > 1) void server?.kill();
    });
  }
  server = await startRealApiServer({
    controllerManager: values['controller-manager'],
    ...(values.port === undefined ? {} : { port: Number(values.port) }),
    ...(values['data-dir'] === undefined ? {} : { dataDir: values['data-dir'] }),
    signal: abort.signal,
  });
  process.stdout.write(`${server.kubeconfigPath}\n`);
  const reason = await server.ended;
  await server.stop();
  if (reason !== undefined) process.exitCode = 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    const expected = typeof error.code === 'string' || error.message.startsWith('stopped by ');
    logToStderr(expected ? error.message : error.stack);
    process.exitCode = 1;
  });
}
