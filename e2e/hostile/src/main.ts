/** `node … e2e/hostile/src/main.ts [--write] [--filter REGEX] [--bound MS] [--turns]`: see README.md. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startApiServerWorker } from '@kctl/apiserver';
import { hostileCases, type HostileCase } from './cases.js';
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

/** A case that is over is measured so many times: a machine of two cores has more threads here than cores. */
const maxAttempts = 3;

interface Result extends Measured {
  readonly turnMs: number;
  /** How often it was measured; the last counts. */
  readonly attempts: number;
}

const isGood = ({ isExpected, foreignMs, turnMs }: Result): boolean =>
  isExpected && foreignMs <= boundMs && turnMs <= boundMs;

async function attempt(hostile: HostileCase, attempts: number): Promise<Result> {
  // A server for each case: none works on what another has left behind.
  const server = await startApiServerWorker({
    journalEntries: 0,
    ...(hostile.isAuthorized === true && { authorization: 'RBAC' }),
  });
  try {
    const turns = await measureTurns(hostile);
    const isDirect = hostile.isDirectOnly === true;
    const measured = isDirect ? { ...turns, ownMs: 0, foreignMs: 0, others: 0 } : await measure(server, hostile);
    return { ...measured, turnMs: turns.turnMs, attempts };
  } finally {
    await server.terminate();
  }
}

const results: Result[] = [];
for (const hostile of hostileCases.filter(({ name }) => filter.test(name))) {
  let result = await attempt(hostile, 1);
  while (!isGood(result) && result.attempts < maxAttempts) result = await attempt(hostile, result.attempts + 1);
  results.push(result);
  const times = result.attempts === 1 ? '' : ` (measured ${result.attempts} times)`;
  console.log(
    `${isGood(result) ? 'ok  ' : 'OVER'} ${result.foreignMs.toFixed(0).padStart(5)} ms others, ${result.turnMs.toFixed(0).padStart(4)} ms longest turn, ${result.ownMs.toFixed(0).padStart(6)} ms own, ${result.status}  ${result.name}${times}`,
  );
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
    const isBelow = isExpected && turnMs <= boundMs;
    over += Number(!isBelow);
    console.log(
      `${isBelow ? 'ok  ' : 'OVER'} ${turnMs.toFixed(0).padStart(4)} ms longest turn, ${status}  ${hostile.name}`,
    );
  }
  if (values.write) writeReport('turns', measured);
  console.log(`${measured.length} hostile requests, ${over} over ${boundMs} ms`);
  return over === 0 ? 0 : 1;
}

const longest = Math.max(...results.map(({ foreignMs }) => foreignMs));
const longestTurn = Math.max(...results.map(({ turnMs }) => turnMs));
const failed = results.filter((result) => !isGood(result));
const again = results.filter(({ attempts }) => attempts > 1).length;
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
  `${results.length} hostile requests, longest foreign wait ${longest.toFixed(0)} ms, longest turn ${longestTurn.toFixed(0)} ms of CPU, ${failed.length} over ${boundMs} ms, ${again} measured again`,
);
process.exit(failed.length === 0 ? 0 : 1);
