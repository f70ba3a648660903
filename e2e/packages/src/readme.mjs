// What a README promises: the line that installs, the program that runs with it, and whether it needs a cluster.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

/** @typedef {{ name: string, install: string[], program: string, needsCluster: boolean }} FirstProgram */

/** @param {string} name of a package, without scope @returns {FirstProgram} */
export function firstProgram(name) {
  const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
  const block = /^```ts\n([\s\S]*?)^```$/m.exec(text);
  if (block === null) throw new Error(`packages/${name}/README.md: there is no program: expected a block of ts`);
  const before = text.slice(0, block.index);
  const line = /^```sh\nnpm install (.+)\n```$/m.exec(before)?.[1];
  if (line === undefined) throw new Error(`packages/${name}/README.md: no "npm install …" stands before the program`);
  const program = block[1] ?? '';
  if (/^\s*declare /m.test(program))
    throw new Error(`packages/${name}/README.md: the program declares what it has not`);
  return { name, install: line.split(/\s+/), program, needsCluster: /^Needs a cluster\b/m.test(before) };
}

/** What the programs print when they work; the ones that stop by a signal alone, after it. */
export const prints = {
  apimachinery: /web.*docs-content.* true/s,
  apiserver: /https:\/\/127\.0\.0\.1:\d+ 201/,
  builder: /reconciling/,
  cache: /\[.*\]/,
  'cache-index': /\[ 'pay' \]\n\[ 'shop\/pay', 'shop\/ship' \]/,
  cel: /value: true/,
  client: /created true [\s\S]*unchanged false/,
  'client-delegating': /\{ colour: 'blue' \}/,
  'client-http': /ADDED/,
  controller: /attempt 1[\s\S]*attempt 2/,
  delivery: /^tea 3\ntea 5\n$/,
  events: /delivered/,
  'http-server': /hello/,
  informer: /add default\/web-0/,
  kubeconfig: /https:\/\/127\.0\.0\.1:\d+ \d/,
  'leader-election': /this process leads/,
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

/** Programs that go on until they are told to stop, or for a minute: after what they print they get SIGTERM. */
export const untilStopped = new Set(['informer', 'runtime']);
