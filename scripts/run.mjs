// The workspace's tasks. Runs on the pinned Node; `npm test` and `npm run demo` get here through bootstrap.mjs.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { playProject } from './project-demo.mjs';
import { lanes, step } from './steps.mjs';
import { printTotals, readTotals, resetTotals } from '../tooling/totals/index.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

/** Arguments are accepted with and without a leading `--`. */
const [task = '', ...given] = process.argv.slice(2);
const args = given.filter((argument) => argument !== '--');

/** TypeScript 7: the same checks in a fifth of the time. Declarations are written by the release that users may still have. */
const nativeCompiler = 'tooling/tsconfig/node_modules/typescript-native/bin/tsc';

const format = () => step('format', 'biome', ['format', '.']);
const lint = () => step('lint', 'oxlint', ['.']);
const types = () => step('types', 'node', [nativeCompiler, '-p', 'tsconfig.json', '--noEmit']);
const map = async () =>
  (await step('map: derived files', 'node', ['scripts/sync-packages.mjs', '--check'])) &&
  (await step('map: declared dependencies', 'node', ['scripts/check-dependencies.mjs'])) &&
  (await step('map: diagram', 'node', ['scripts/architecture.mjs', '--check'])) &&
  (await step('map: public API', 'node', ['scripts/api-report.mjs', '--check'])) &&
  (await step('map: imports', 'depcruise', [
    '--config',
    '.dependency-cruiser.mjs',
    '--output-type',
    'err',
    'packages',
    'examples',
  ])) &&
  (await step('map: boundaries', 'turbo', ['boundaries', '--no-color']));
const snippets = () => step('docs: code blocks compile', 'node', ['scripts/check-snippets.mjs']);
const prose = () => step('docs: rates of words', 'node', ['scripts/check-prose.mjs']);
const costs = () => step('docs: cost table', 'node', ['scripts/costs.mjs', '--check']);
const build = () =>
  step('build', 'turbo', ['run', 'build:packages', '--output-logs=errors-only', '--log-order=grouped']);
// On sources: nothing waits for the build.
const tests = () =>
  step('tests', 'node', ['scripts/vitest.mjs', ...(args.length === 0 ? ['--project=unit', '--project=memory'] : args)]);
const publishable = () => step('packages are publishable', 'node', ['scripts/check-packages.mjs']);
const unused = () => step('nothing unused', 'knip', ['--no-progress', '--no-config-hints']);

/** @type {Record<string, () => Promise<boolean>>} */
const tasks = {
  async test() {
    resetTotals();
    const passed = await lanes([[tests], [format, prose, build, lint, types, map, costs, snippets]]);
    printTotals();
    return passed;
  },
  check: async () => {
    resetTotals();
    const passed = await lanes([
      [tests],
      [format, prose, build, publishable, lint, types, map, costs, snippets, unused],
    ]);
    printTotals();
    return passed;
  },
  demo,
  async conformance() {
    const [, target, , release] =
      /^--target[ =](embedded|real|existing)( --version[ =](\S+))?$/.exec(args.join(' ')) ?? [];
    if (target === undefined) return delegate('e2e/conformance/src/main.ts');
    resetTotals();
    const api = await delegate('e2e/conformance/src/main.ts');
    const clients = await clientSuites(target, release);
    if (release !== undefined) await writeVersions(release);
    printTotals();
    return api && clients;
  },
  bench: () => delegate('bench/src/main.ts'),
  chaos: () => delegate('e2e/chaos/src/main.ts'),
  peers: () => delegate('e2e/peers/src/main.ts'),
  engines,
  hostile: () =>
    args[0] === 'fuzz' ? run('e2e/hostile/src/fuzz.ts', args.slice(1)) : delegate('e2e/hostile/src/main.ts'),
  simulate: () => delegate('e2e/simulation/src/main.ts'),
};

/**
 * The suites of what talks to a server (clients over HTTP and over the cache, informer, events, the manifests of the
 * documentation) on the same target.
 * @param {string} target
 * @param {string | undefined} release of the real server
 */
async function clientSuites(target, release) {
  process.env.KCTL_TEST_SERVER = target;
  process.env.KCTL_SUITE = clientsOn(target, release);
  if (target === 'real' && (release !== undefined || process.env.TEST_ASSET_KUBE_APISERVER === undefined)) {
    const { ensureBinaries } = await import('../e2e/kube-apiserver/build.mjs');
    // A test environment of a real server runs a controller manager, too.
    const { kubeApiserver, etcd, kubeControllerManager } = await ensureBinaries({
      controllerManager: true,
      release,
      log: (/** @type {string} */ line) => console.log(line),
    });
    process.env.TEST_ASSET_KUBE_APISERVER = kubeApiserver;
    process.env.TEST_ASSET_ETCD = etcd;
    process.env.TEST_ASSET_KUBE_CONTROLLER_MANAGER = kubeControllerManager;
  }
  return step('', 'node', ['scripts/vitest.mjs', ...serverSuites]);
}

/** @param {string} target @param {string | undefined} release */
const clientsOn = (target, release) =>
  `clients and informers on ${target}${release === undefined ? '' : ` ${release}`}`;

/**
 * Adds what the client stack did on a release to its result, and writes the matrix of all releases anew.
 * @param {string} release
 */
async function writeVersions(release) {
  const suite = clientsOn('real', release);
  const { passed = 0, failed = 0, skipped = 0 } = readTotals().find((each) => each.suite === suite) ?? {};
  const program = 'e2e/conformance/src/write-matrix.ts';
  await run(program, [release, String(passed), String(failed), String(skipped)]);
}

const serverSuites = [
  'packages/testing/test/client-conformance.test.ts',
  'packages/runtime/test/client-conformance.test.ts',
  'packages/runtime/test/read-your-writes.test.ts',
  'packages/informer/test/server.test.ts',
  'packages/events/test/events.server.test.ts',
  'tooling/doc-snippets/test/manifests.test.ts',
];

/**
 * Plays an example without a cluster: `npm run demo`, `npm run demo -- <example>`, `npm run demo -- <example>/<scene>`.
 * Programs run on sources, so nothing is built.
 */
async function demo() {
  const [name = 'application-operator', ...rest] = [...args.filter((argument) => !argument.startsWith('--'))];
  const flags = args.filter((argument) => argument.startsWith('--'));
  const [example = '', scene] = name.split('/');
  const candidates = scene === undefined ? ['scene', 'demo'] : [`${scene}.scene`];
  const program = candidates.map((file) => `examples/${example}/src/${file}.ts`).find((file) => existsSync(file));
  const isProject = scene === undefined && existsSync(`examples/${example}/.kctl/scaffold.json`);
  if (isProject && rest.length === 0) return await playProject(`examples/${example}`, flags.includes('--keep'));
  if (program === undefined || rest.length > 0) {
    const examples = readdirSync('examples').filter((folder) => existsSync(`examples/${folder}/package.json`));
    console.error(`demo: no scene ${JSON.stringify([name, ...rest].join(' '))}: use one of ${examples.join(', ')}`);
    return false;
  }
  return run(program, flags);
}

/**
 * The unit tests on each Node that `engines` allows (or `--node <version>`) instead of the pinned one; further arguments
 * are vitest's. Programs and threads that tests start from sources get the loader, which lowers what an old Node does not
 * parse.
 */
async function engines() {
  const { nodeBinary, nodeVersions } = await import('../e2e/packages/src/workspace.mjs');
  const at = args.indexOf('--node');
  const versions = at < 0 ? nodeVersions : args.slice(at + 1, at + 2);
  const rest = at < 0 ? args : args.toSpliced(at, 2);
  let passed = true;
  for (const version of versions) {
    const binary = await nodeBinary(version);
    console.log(`Node ${version}`);
    process.env.KCTL_SUITE = `unit and package tests on Node ${version}`;
    process.env.KCTL_NODE = dirname(binary);
    process.env.NODE_OPTIONS = `--import ${new URL('typescript.mjs', import.meta.url)}`;
    passed = (await step('', binary, ['scripts/vitest.mjs', ...rest])) && passed;
  }
  return passed;
}

/** Runs a TypeScript program from sources (types are stripped, packages resolve to their sources). @param {string} program */
function delegate(program) {
  if (!existsSync(join(root, program))) {
    console.error(`${task}: ${program} is not part of this checkout yet`);
    return Promise.resolve(false);
  }
  return run(program, args);
}

/** @param {string} program @param {readonly string[]} given */
function run(program, given) {
  return step('', 'node', ['--import', './scripts/typescript.mjs', '--conditions=@kctl/source', program, ...given]);
}

const chosen = tasks[task];
if (chosen === undefined) {
  console.error(`unknown task ${JSON.stringify(task)}: expected one of ${Object.keys(tasks).join(', ')}`);
  process.exit(2);
}
process.exitCode = (await chosen()) ? 0 : 1;
