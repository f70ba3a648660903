// What CI runs beside `npm test`: the suites that need servers and programs of other kinds. First on the embedded
// server, then on a real kube-apiserver, which is skipped, loudly, only where there is neither a Go toolchain nor ready
// binaries.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureBinaries, goAvailable } from '../e2e/kube-apiserver/build.mjs';
import { addTotals, readTotals } from '../tooling/totals/index.js';

const bin = join(process.cwd(), 'node_modules', '.bin');
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };
/** Outcome and duration of each step, printed at the end. @type {string[]} */
const steps = [];

/**
 * Runs a step to its end. One that runs beside others is quiet until then.
 * @param {string} name @param {string[]} args @param {Record<string, string>} [extra]
 * @param {{ quiet?: boolean }} [how]
 */
async function run(name, args, extra = {}, { quiet = false } = {}) {
  if (!quiet) console.log(`\n=== ${name}`);
  const started = Date.now();
  // Totals of its own, since another step may add some meanwhile.
  const totals = join(process.cwd(), '.cache', `ci-totals-${steps.length}-${started}.jsonl`);
  const child = spawn('node', args, {
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    env: { ...env, ...extra, KCTL_TOTALS: totals },
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  const [code, signal] = await once(child, 'close');
  const line = `${name}: ${code === 0 ? 'ok' : `FAILED (${code ?? signal})`} in ${((Date.now() - started) / 1000).toFixed(0)} s`;
  console.log(`${quiet ? `\n=== ${name}\n${output.trimEnd()}\n` : ''}=== ${line}`);
  steps.push(line);
  const counted = readTotals(totals);
  rmSync(totals, { force: true });
  for (const each of counted) addTotals(each);
  if (code === 0) return;
  process.exitCode = 1;
  // A program that counts nothing, or that ended before it could: its failure must stand in the closing line, too.
  if (!counted.some(({ failed }) => failed > 0)) addTotals({ suite: name, passed: 0, failed: 1, skipped: 0 });
}

/** A TypeScript program on the sources of the packages. @param {string} file @param {string[]} args */
const program = (file, ...args) => ['--import', './scripts/typescript.mjs', '--conditions=@kctl/source', file, ...args];
/** @param {string[]} projects */
const tests = (...projects) => ['scripts/vitest.mjs', ...projects.flatMap((project) => ['--project', project])];
const conformance = 'e2e/conformance/src/main.ts';

await run('conformance on the embedded server', program(conformance, '--target', 'embedded'));
const rotation = 'e2e/webhook/src/main.ts';
// By themselves: they have rates and seconds to reach.
await run('certificate rotation, embedded server', program(rotation, '--server', 'embedded', '--seconds', '45'));
await run('from npm create to an operator', ['scripts/transcript.mjs']);

/** What computes on one core, beside suites that wait for servers. */
async function computations() {
  const simulated = ['--hours', '200', '--minutes', '60', '--compare', 'no'];
  await run('200 simulated hours', program('e2e/simulation/src/main.ts', ...simulated), {}, { quiet: true });
  const generators = [
    'packages/workqueue/test/flat-heap.leak.test.ts',
    'packages/informer/test/model-check.test.ts',
    'packages/informer/src/bytes/slab-store.property.test.ts',
  ];
  const name = 'generators at length';
  const sizes = { KCTL_KEYS: '1000000', KCTL_HISTORIES: '1000', KCTL_STORES: '60', KCTL_SUITE: name };
  await run(name, ['scripts/vitest.mjs', ...generators], sizes, { quiet: true });
  if (!(await goAvailable())) return;
  await run('definitions beside controller-gen', program('e2e/crd/src/golden.ts'), {}, { quiet: true });
  await run('YAML beside Go', program('e2e/yaml/src/main.ts'), {}, { quiet: true });
}
const computed = computations();

const atLength = 'long unit and package tests';
await run(atLength, tests('long'), { KCTL_SUITE: atLength });
const suite = 'end-to-end suites on the embedded server';
await run(suite, tests('@kctl/e2e-*'), { KCTL_E2E: '1', KCTL_SUITE: suite });
const compact = 'informers and caches that compress their objects';
await run(compact, tests('@kctl/informer', '@kctl/cache'), { KCTL_STORAGE: 'compact', KCTL_SUITE: compact });

const hasBinaries = process.env.KUBEBUILDER_ASSETS !== undefined || process.env.TEST_ASSET_KUBE_APISERVER !== undefined;
if (!hasBinaries && !(await goAvailable())) {
  console.log(
    '\n!!! NO REAL API SERVER: neither a Go toolchain nor KUBEBUILDER_ASSETS. Its suites were SKIPPED. !!!\n',
  );
  addTotals({ suite: 'real API server', passed: 0, failed: 0, skipped: 1 });
} else {
  const binaries = await ensureBinaries({ controllerManager: true, log: (line) => console.log(line) });
  console.log(`real kube-apiserver ${binaries.version} is ready`);
  const assets = {
    KCTL_TEST_SERVER: 'real',
    TEST_ASSET_KUBE_APISERVER: binaries.kubeApiserver,
    TEST_ASSET_ETCD: binaries.etcd,
    TEST_ASSET_KUBE_CONTROLLER_MANAGER: binaries.kubeControllerManager ?? '',
  };
  await run('conformance on the real server', program(conformance, '--target', 'real'));
  const mixed = ['--all', '--calls', '4000', '--seed', '5'];
  await run('both servers compared', program(conformance, '--differential', ...mixed));
  const random = ['--objects', '4000', '--schemas', '20', '--seed', '11'];
  await run('verdicts on random objects', program('e2e/crd/src/verdicts.ts', ...random));
  const types = ['--schemas', '40', '--values', '40', '--seed', '11'];
  await run('random types of four libraries', program('e2e/crd/src/libraries.ts', ...types));
  const definitions = ['--definitions', '1500', '--seed', '11'];
  await run('verdicts on random definitions', program('e2e/crd/src/definitions.ts', ...definitions));
  const name = 'examples and clients on the real server';
  await run(
    name,
    tests(
      '@kctl/example-*',
      '@kctl/testing',
      '@kctl/informer',
      '@kctl/cache',
      '@kctl/events',
      '@kctl/manager',
      '@kctl/webhook',
      '@kctl/pods',
      '@kctl/manifests',
      '@kctl/dependents',
      '@kctl/e2e-access',
      '@kctl/e2e-leader-election',
      '@kctl/e2e-webhook',
    ),
    {
      ...assets,
      KCTL_E2E: '1',
      KCTL_SUITE: name,
    },
  );
  await computed;
  // By themselves: they have rates and budgets to reach.
  await run('certificate rotation, real server', program(rotation, '--server', 'real', '--seconds', '45'));
  const scaffolded = 'a scaffolded project, rights, operations and budgets on the real server';
  const files = [
    'e2e/peers/test/scaffold.test.ts',
    'packages/runtime/test/access-needs.test.ts',
    'packages/runtime/test/operations.test.ts',
    'packages/cli/test/budget.test.ts',
  ];
  await run(scaffolded, [...tests('@kctl/e2e-peers', '@kctl/runtime', '@kctl/cli'), ...files], {
    ...assets,
    KCTL_E2E: '1',
    KCTL_SUITE: scaffolded,
  });
}
await computed;

console.log(`\n${steps.join('\n')}\n`);
