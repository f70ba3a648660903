// The suites that need a real kube-apiserver: the conformance suite and the examples' smoke tests.
// Skips, loudly, only where there is neither a Go toolchain nor ready binaries.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureBinaries, goAvailable } from '../e2e/kube-apiserver/build.mjs';
import { addTotals } from '../tooling/totals/index.js';

const env = {
  ...process.env,
  PATH: `${join(process.cwd(), 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`,
};
const started = Date.now();
const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`;

/** @param {string} name @param {string[]} args @param {Record<string, string>} [extra] */
function run(name, args, extra = {}) {
  console.log(`\n=== ${name}`);
  const result = spawnSync('node', args, { stdio: 'inherit', env: { ...env, ...extra } });
  console.log(
    `=== ${name}: ${result.status === 0 ? 'ok' : `FAILED (${result.status ?? result.signal})`} after ${seconds()}`,
  );
  if (result.status !== 0) process.exitCode = 1;
}

const hasBinaries = process.env.KUBEBUILDER_ASSETS !== undefined || process.env.TEST_ASSET_KUBE_APISERVER !== undefined;
if (!hasBinaries && !(await goAvailable())) {
  console.log(
    '\n!!! NO REAL API SERVER: neither a Go toolchain nor KUBEBUILDER_ASSETS. The real-server suites were SKIPPED. !!!\n',
  );
  addTotals({ suite: 'real API server', passed: 0, failed: 0, skipped: 1 });
} else {
  const { version } = await ensureBinaries({
    controllerManager: true,
    log: (/** @type {string} */ line) => console.log(line),
  });
  console.log(`real kube-apiserver ${version} is ready after ${seconds()}`);
  const program = ['--import', './scripts/typescript.mjs', '--conditions=@kctl/source'];
  if (existsSync('e2e/conformance/src/main.ts'))
    run('conformance on the real server', [...program, 'e2e/conformance/src/main.ts', '--target', 'real']);
  run('examples on the real server', ['scripts/vitest.mjs', '--project', 'example-*'], {
    KCTL_TEST_SERVER: 'real',
    KCTL_SUITE: 'examples on the real server',
  });
}
