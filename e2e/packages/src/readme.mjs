// What a README promises: the line that installs, the program that runs with it, and whether it needs a cluster.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

/** @typedef {{ name: string, install: string[], pnpmAdd: string[], program: string, needsCluster: boolean, prints: RegExp }} FirstProgram */

/** @param {string} name of a package, without scope @returns {FirstProgram} */
export function firstProgram(name) {
  const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
  const block = /^```ts(?: program)?\n([\s\S]*?)^```$/m.exec(text);
  if (block === null) throw new Error(`packages/${name}/README.md: there is no program: expected a block of ts`);
  const before = text.slice(0, block.index);
  const line = /^```sh\nnpm install (.+)\n```$/m.exec(before)?.[1];
  if (line === undefined) throw new Error(`packages/${name}/README.md: no "npm install …" stands before the program`);
  // Where pnpm needs more than npm, the README says so.
  const pnpmAdd = /`pnpm add ([^`]+)`/.exec(text)?.[1]?.split(/\s+/) ?? line.split(/\s+/);
  const program = block[1] ?? '';
  if (/^\s*declare /m.test(program))
    throw new Error(`packages/${name}/README.md: the program declares what it has not`);
  const needsCluster = /^Needs a cluster\b/m.test(before);
  const after = text.slice(block.index + block[0].length);
  return { name, install: line.split(/\s+/), pnpmAdd, program, needsCluster, prints: printsOf(name, after) };
}

/** @param {string} name @param {string} after the README after the program */
function printsOf(name, after) {
  const known = prints[/** @type {keyof typeof prints} */ (name)];
  const shown = /^\s*```text output\n([\s\S]*?)^```$/m.exec(after.slice(0, 2_000));
  if (known !== undefined) return known;
  if (shown === null || after.slice(0, shown.index).trim() !== '')
    throw new Error(`packages/${name}/README.md: no block of "text output" follows the program, to say what it prints`);
  const parts = (shown[1] ?? '').trim().split('…');
  return new RegExp(parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'));
}

/**
 * What the programs print when they work, where the README does not show it; those that stop by a signal alone print it
 * before.
 */
const prints = {
  apimachinery: /web.*docs-content.* true/s,
  apiserver: /https:\/\/127\.0\.0\.1:\d+ 201/,
  builder: /reconciling/,
  'cache-index': /\[ 'pay' \]\n\[ 'shop\/pay', 'shop\/ship' \]/,
  cel: /value: true/,
  client: /created true [\s\S]*unchanged false/,
  'client-http': /ADDED/,
  controller: /attempt 1[\s\S]*attempt 2/,
  delivery: /^tea 3\ntea 5\n$/,
  'http-server': /hello/,
  kubeconfig: /https:\/\/127\.0\.0\.1:\d+ \d/,
  'leader-election': /this process leads/,
  pods: /0 web-0/,
  manifests: /Namespace shop created[\s\S]*ConfigMap colours pruned/,
  manager: /sweeping true/,
  metrics: /jobs_total\{result="success"\} 1/,
  runtime: /entries: 1/,
  simulation: /no rule broken/,
  telemetry: /gave up/,
  testing: /found/,
  wait: /up 3/,
  webhook: /./s,
  workqueue: /refreshed bob[\s\S]*refreshed ann/,
};

/** A program that goes on until it is told to stop: after what they print they get SIGTERM. */
export const untilStopped = new Set(['runtime']);
