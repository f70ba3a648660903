// Runs every project's tests in one vitest and records the totals.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { addTotals } from '../tooling/totals/index.js';

// A report for each process, since two may run at the same time.
const report = `.cache/vitest-${process.pid}.json`;
mkdirSync('.cache', { recursive: true });
// By path: the command would run on the pinned Node, whichever runs this.
const result = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    '--silent=passed-only',
    ...process.argv.slice(2),
  ],
  {
    stdio: 'inherit',
  },
);
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, 'utf8'));
  addTotals({
    suite: process.env.KCTL_SUITE ?? 'unit and package tests',
    passed: numPassedTests,
    failed: numFailedTests,
    skipped: numPendingTests + numTodoTests,
  });
} catch (error) {
  console.error(`vitest left no report: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
rmSync(report, { force: true });
process.exitCode ||= result.status ?? 1;
