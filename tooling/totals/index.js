// Adds up what the suites of one run report, for the closing line `N passed, N failed, N skipped`.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

const file = process.env.KCTL_TOTALS ?? '.cache/totals.jsonl';

/** @typedef {{ suite: string, passed: number, failed: number, skipped: number }} Totals */

export function resetTotals() {
  if (process.env.KCTL_TOTALS === undefined) rmSync(file, { force: true });
}

/** @param {Totals} totals */
export function addTotals(totals) {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(totals)}\n`);
}

/** @returns {Totals[]} */
export function readTotals(from = file) {
  if (!existsSync(from)) return [];
  return readFileSync(from, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

export function printTotals() {
  const all = readTotals();
  const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ key) =>
    all.reduce((total, suite) => total + suite[key], 0);
  for (const suite of all)
    console.log(`${suite.suite}: ${suite.passed} passed, ${suite.failed} failed, ${suite.skipped} skipped`);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) printTotals();
