/**
 * Finds the binaries of a real API server, or builds them from the Go module beside this file.
 *
 * Order, for each binary by itself: `TEST_ASSET_KUBE_APISERVER` / `TEST_ASSET_ETCD` /
 * `TEST_ASSET_KUBE_CONTROLLER_MANAGER` (a file), `KUBEBUILDER_ASSETS` (a folder), the cache, `go build`.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { access, constants, mkdir, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { withLock } from './lock.mjs';
import { releases, writeReleaseModule } from './release-module.mjs';

const run = promisify(execFile);

const MODULE_DIR = fileURLToPath(new URL('.', import.meta.url));
/** What the binaries are made of: a change of any of these files is another cache folder. */
const INPUTS = ['go.mod', 'go.sum', ...['kube-apiserver', 'kube-controller-manager', 'etcd'].map(mainFile)];
/** The same of another release. */
const RELEASE_INPUTS = ['release-module.mjs', ...['kube-apiserver', 'kube-controller-manager'].map(mainFile)];
const STAGE_PREFIX = '.stage-';
const ABANDONED_MS = 3_600_000;

/**
 * @typedef {'kube-apiserver' | 'kube-controller-manager' | 'etcd'} BinaryName
 *
 * @typedef {object} Binaries
 * @property {string} kubeApiserver path of the kube-apiserver binary
 * @property {string} etcd path of the etcd binary
 * @property {string} [kubeControllerManager] path of the kube-controller-manager binary, when it was asked for
 * @property {string} version version of kube-apiserver, as `v1.36.3`
 *
 * @typedef {object} EnsureBinariesOptions
 * @property {boolean} [controllerManager] kube-controller-manager is needed too; default false
 * @property {string | undefined} [release] a minor release, as `1.34`: kube-apiserver and kube-controller-manager are built from it,
 *   whatever the environment names; default: what the environment names, else the release in go.mod
 * @property {(line: string) => void} [log] told what is being done; default: a line on stderr
 * @property {AbortSignal | undefined} [signal] gives up waiting and building
 */

/** Thrown when neither binaries nor a usable Go toolchain were found. */
export class NoBinariesError extends Error {
  /** @type {'KCTL_NO_BINARIES'} */
  code = 'KCTL_NO_BINARIES';
  name = 'NoBinariesError';
}

/**
 * Makes sure that the binaries are there, building what is missing (minutes when cold, milliseconds afterwards).
 *
 * @param {EnsureBinariesOptions} [options]
 * @returns {Promise<Binaries>}
 * @throws {NoBinariesError} with `code: 'KCTL_NO_BINARIES'`
 */
export async function ensureBinaries({ controllerManager = false, release, log = logToStderr, signal } = {}) {
  /** @type {BinaryName[]} */
  const names = [
    'kube-apiserver',
    'etcd',
    ...(controllerManager ? /** @type {const} */ (['kube-controller-manager']) : []),
  ];
  const kubernetesVersion = await moduleVersion();
  const version = release === undefined ? kubernetesVersion : await versionOfRelease(release, kubernetesVersion);
  /** @type {Map<BinaryName, string>} */
  const paths = new Map();
  for (const name of names) {
    const given = release === undefined || name === 'etcd' ? await givenBinary(name) : undefined;
    if (given !== undefined) paths.set(name, given);
  }
  if (version !== kubernetesVersion) {
    const ofRelease = names.filter((name) => name !== 'etcd');
    const module = { version, isRelease: true };
    for (const [name, path] of await buildMissing(ofRelease, module, log, signal)) paths.set(name, path);
  }
  const own = names.filter((name) => !paths.has(name));
  const module = { version: kubernetesVersion, isRelease: false };
  const built = own.length > 0 ? await buildMissing(own, module, log, signal) : new Map();
  const pathOf = (/** @type {BinaryName} */ name) => /** @type {string} */ (paths.get(name) ?? built.get(name));
  return {
    kubeApiserver: pathOf('kube-apiserver'),
    etcd: pathOf('etcd'),
    ...(controllerManager ? { kubeControllerManager: pathOf('kube-controller-manager') } : {}),
    version: release !== undefined || built.has('kube-apiserver') ? version : await versionOf(pathOf('kube-apiserver')),
  };
}

/**
 * Whether there is a Go toolchain which accepts go.mod. Asks nothing of the network.
 *
 * @returns {Promise<boolean>}
 */
export async function goAvailable() {
  return run('go', ['list', '-m'], { cwd: MODULE_DIR, env: goEnvironment() }).then(
    () => true,
    () => false,
  );
}

/**
 * The binary that the environment names.
 *
 * @param {BinaryName} name
 * @returns {Promise<string | undefined>}
 */
async function givenBinary(name) {
  const fileVariable = `TEST_ASSET_${name.toUpperCase().replaceAll('-', '_')}`;
  const file = process.env[fileVariable];
  const folder = process.env.KUBEBUILDER_ASSETS;
  const path = file || (folder ? join(folder, name) : undefined);
  if (path === undefined) return undefined;
  if (await isExecutable(path)) return path;
  throw new NoBinariesError(
    `${file ? fileVariable : 'KUBEBUILDER_ASSETS'} is set, but ${path} is not an executable file`,
  );
}

/**
 * What binaries are built from: the module beside this file, or one that is written for a release.
 *
 * @typedef {{ version: string, isRelease: boolean }} Source
 *
 * @param {BinaryName[]} names
 * @param {Source} source
 * @param {(line: string) => void} log
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Map<BinaryName, string>>}
 */
async function buildMissing(names, source, log, signal) {
  const { version, isRelease } = source;
  const inputs = isRelease ? RELEASE_INPUTS : INPUTS;
  const folder = join(cacheRoot(), 'kctl', 'kube-apiserver', `${version}-${await inputsHash(version, inputs)}`);
  const missing = async () => {
    const found = await Promise.all(names.map((name) => isExecutable(join(folder, name))));
    return names.filter((_, index) => !found[index]);
  };
  if ((await missing()).length > 0) {
    if (!(await goAvailable())) {
      throw new NoBinariesError(
        `no ${names.join(', ')}: set KUBEBUILDER_ASSETS to a folder with the binaries, or install the Go toolchain that e2e/kube-apiserver/go.mod asks for`,
      );
    }
    await mkdir(folder, { recursive: true });
    const onWait = () => log(`another process builds into ${folder}, waiting for it`);
    await withLock(join(folder, '.lock'), { signal, onWait }, async () => {
      const todo = await missing();
      if (todo.length === 0) return;
      const module = join(folder, 'module');
      const moduleDir = isRelease
        ? await writeReleaseModule({ version, programs: MODULE_DIR, folder: module, env: goEnvironment() })
        : MODULE_DIR;
      await goBuild(todo, { version, moduleDir, folder }, log, signal);
    });
  }
  return new Map(names.map((name) => [name, join(folder, name)]));
}

/**
 * Builds into a folder of its own and renames each finished binary, so that nobody ever sees half a file.
 *
 * @param {BinaryName[]} names
 * @param {{ version: string, moduleDir: string, folder: string }} into
 * @param {(line: string) => void} log
 * @param {AbortSignal | undefined} signal
 */
async function goBuild(names, { version, moduleDir, folder }, log, signal) {
  await removeAbandonedStages(folder);
  const stage = join(folder, `${STAGE_PREFIX}${process.pid}`);
  const workDir = join(stage, 'work');
  await mkdir(workDir, { recursive: true });
  log(`building ${names.join(', ')} ${version} with go build (minutes when Go's own cache is cold)`);
  const started = Date.now();
  try {
    const packages = names.map((name) => `./cmd/${name}`);
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(version)];
    await goCommand(['build', ...flags, '-o', `${stage}/`, ...packages], { moduleDir, workDir }, log, signal);
    for (const name of names) await rename(join(stage, name), join(folder, name));
  } finally {
    await rm(stage, { recursive: true, force: true, maxRetries: 5 });
  }
  log(`built in ${((Date.now() - started) / 1000).toFixed(0)} s into ${folder}`);
}

/**
 * What builders left that were killed.
 *
 * @param {string} folder
 */
async function removeAbandonedStages(folder) {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!name.startsWith(STAGE_PREFIX) || Date.now() - (await stat(path)).mtimeMs < ABANDONED_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} args
 * @param {{ moduleDir: string, workDir: string }} folders
 *   `workDir` for go's temporary files: it does not remove them when it is stopped
 * @param {(line: string) => void} log
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<void>}
 */
function goCommand(args, { moduleDir, workDir }, log, signal) {
  return new Promise((resolve, reject) => {
    const env = { ...goEnvironment(), GOTMPDIR: workDir };
    const child = spawn('go', args, { cwd: moduleDir, env, stdio: ['ignore', 'pipe', 'pipe'], signal });
    let tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        tail = (tail + text).slice(-4_000);
      });
    }
    const progress = setInterval(() => log('still building'), 60_000);
    child.once('error', (error) => {
      if (error.name !== 'AbortError') reject(error);
    });
    child.once('close', (exitCode) => {
      clearInterval(progress);
      if (signal?.aborted) reject(signal.reason);
      else if (exitCode === 0) resolve();
      else reject(new Error(`go ${args[0]} failed with exit code ${exitCode}:\n${tail.trim()}`));
    });
  });
}

/** @returns {NodeJS.ProcessEnv} */
function goEnvironment() {
  return { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' };
}

/**
 * Without these `/version` says `v0.0.0-master+$Format…`.
 *
 * @param {string} version
 */
function linkerFlags(version) {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
  const settings = packages.flatMap((pkg) => Object.entries(values).map(([key, value]) => `-X ${pkg}.${key}=${value}`));
  return ['-s', '-w', ...settings].join(' ');
}

/** The version of k8s.io/kubernetes that go.mod requires. */
async function moduleVersion() {
  const version = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(await readFile(join(MODULE_DIR, 'go.mod'), 'utf8'))?.[1];
  if (version === undefined) throw new Error('go.mod does not require k8s.io/kubernetes');
  return version;
}

/** @param {string} kubeApiserver */
async function versionOf(kubeApiserver) {
  const { stdout } = await run(kubeApiserver, ['--version']);
  return stdout.trim().split(' ').at(-1) ?? 'unknown';
}

/**
 * @param {string} release
 * @param {string} own the version in go.mod
 */
async function versionOfRelease(release, own) {
  if (own.startsWith(`v${release}.`)) return own;
  const version = Object.entries(releases).find(([minor]) => minor === release)?.[1];
  if (version !== undefined) return version;
  const known = [...Object.keys(releases), own.split('.').slice(0, 2).join('.').slice(1)];
  throw new NoBinariesError(`release ${JSON.stringify(release)}: expected one of ${known.join(', ')}`);
}

/**
 * @param {string} version
 * @param {string[]} inputs
 */
async function inputsHash(version, inputs) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${linkerFlags(version)}\n`);
  for (const file of inputs) hash.update(`${file}\n`).update(await readFile(join(MODULE_DIR, file)));
  return hash.digest('hex').slice(0, 12);
}

/** @param {string} path */
function isExecutable(path) {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function cacheRoot() {
  return process.env.KCTL_CACHE || process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
}

/** @param {string} name */
function mainFile(name) {
  return `cmd/${name}/main.go`;
}

/** @param {string} line */
function logToStderr(line) {
  process.stderr.write(`kube-apiserver: ${line}\n`);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const abort = new AbortController();
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(name, () => abort.abort(new Error(`stopped by ${name}`)));
  }
  try {
    const { values } = parseArgs({
      options: { 'controller-manager': { type: 'boolean', default: false }, release: { type: 'string' } },
    });
    const { 'controller-manager': controllerManager, release } = values;
    const binaries = await ensureBinaries({ controllerManager, release, signal: abort.signal });
    process.stdout.write(`${JSON.stringify(binaries, undefined, 2)}\n`);
  } catch (error) {
    logToStderr(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}
