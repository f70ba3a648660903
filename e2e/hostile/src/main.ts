/** `node … e2e/hostile/src/main.ts [--write] [--filter REGEX] [--bound MS] [--turns]`: see README.md. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startApiServerWorker } from '@kctl/apiserver';
import { hostileCases } from './cases.js';
import { measure, type Measured } from './measure.js';
import { measureTurns, type Turns } from './turns.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    write: { type: 'boolean', default: false },
    filter: { type: 'string' },
    turns: { type: 'boolean', default: false },
    bound: { type: 'string', default: '50' },
  },
});

const boundMs = Number(values.bound);
const filter = new RegExp(values.filter ?? '');
if (values.turns) process.exit(await showTurns());
const results: (Measured & { readonly turnMs: number })[] = [];
for (const hostile of hostileCases.filter(({ name }) => filter.test(name))) {
  // A server for each case: none works on what another has left behind.
  const server = await startApiServerWorker({
    journalEntries: 0,
    ...(hostile.isAuthorized === true && { authorization: 'RBAC' }),
  });
  try {
    const turns = await measureTurns(hostile);
    const { turnMs } = turns;
    const result =
      hostile.isDirectOnly === true
        ? { ...turns, ownMs: 0, foreignMs: 0, others: 0 }
        : { ...(await measure(server, hostile)), turnMs };
    results.push(result);
    const verdict = result.isExpected && result.foreignMs <= boundMs && turnMs <= boundMs ? 'ok  ' : 'OVER';
    console.log(
      `${verdict} ${result.foreignMs.toFixed(0).padStart(5)} ms others, ${turnMs.toFixed(0).padStart(4)} ms longest turn, ${result.ownMs.toFixed(0).padStart(6)} ms own, ${result.status}  ${result.name}`,
    );
  } finally {
    await server.terminate();
  }
}

function writeReport(name: string, measured: readonly Turns[]): void {
  const report = { machine: `${cpus().length} CPUs, Node ${process.version}`, boundMs, results: measured };
  writeFileSync(new URL(`../results/${name}.json`, import.meta.url), `${JSON.stringify(report, undefined, 2)}\n`);
}

/** The turns alone: CPU time, which other work on the machine does not change. */
async function showTurns(): Promise<number> {
  let over = 0;
  const measured: Turns[] = [];
  for (const hostile of hostileCases.filter(({ name }) => filter.test(name))) {
    const turns = await measureTurns(hostile);
    const { turnMs, status, isExpected } = turns;
    measured.push({ ...turns, turnMs: Math.round(turnMs) });
    const isGood = isExpected && turnMs <= boundMs;
    over += Number(!isGood);
    console.log(
      `${isGood ? 'ok  ' : 'OVER'} ${turnMs.toFixed(0).padStart(4)} ms longest turn, ${status}  ${hostile.name}`,
    );
  }
  if (values.write) writeReport('turns', measured);
  console.log(`${measured.length} hostile requests, ${over} over ${boundMs} ms`);
  return over === 0 ? 0 : 1;
}

const longest = Math.max(...results.map(({ foreignMs }) => foreignMs));
const longestTurn = Math.max(...results.map(({ turnMs }) => turnMs));
const failed = results.filter(
  ({ isExpected, foreignMs, turnMs }) => !isExpected || Math.max(foreignMs, turnMs) > boundMs,
);
if (values.write) {
  const rounded = results.map((result) => ({
    ...result,
    ownMs: Math.round(result.ownMs),
    foreignMs: Math.round(result.foreignMs),
    turnMs: Math.round(result.turnMs),
  }));
  writeReport('hostile', rounded);
}
console.log(
  `${results.length} hostile requests, longest foreign wait ${longest.toFixed(0)} ms, longest turn ${longestTurn.toFixed(0)} ms of CPU, ${failed.length} over ${boundMs} ms`,
);
process.exit(failed.length === 0 ? 0 : 1);
