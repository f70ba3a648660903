/**
 * `main.ts --rounds N --seed S --server embedded|real [--lease ms --deadline ms --retry ms] [--stall ms] [--worker]
 * [--manager facade|bare] [--faults a,b]`. Exit code 1 on a violation.
 */
import { parseArgs } from 'node:util';
import { faultNames, managerFaultNames, type FaultName } from './faults.js';
import { runHarness } from './harness.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    server: { type: 'string', default: 'embedded' },
    lease: { type: 'string', default: '3000' },
    deadline: { type: 'string', default: '2000' },
    retry: { type: 'string', default: '400' },
    stall: { type: 'string' },
    faults: { type: 'string' },
    worker: { type: 'boolean', default: false },
    manager: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});

if (values.server !== 'embedded' && values.server !== 'real') throw new TypeError('--server: embedded or real');
const { manager: program = 'elector' } = values;
if (program !== 'elector' && program !== 'facade' && program !== 'bare')
  throw new TypeError('--manager: facade or bare');
if (program !== 'elector' && values.worker) throw new TypeError('--worker: not with --manager');
const leaseDurationMs = Number(values.lease);
const isFault = (name: string): name is FaultName =>
  [...faultNames, ...managerFaultNames].some((known) => known === name);
const faults = values.faults?.split(',').filter(isFault);
const report = await runHarness({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  server: values.server,
  durations: { leaseDurationMs, renewDeadlineMs: Number(values.deadline), retryPeriodMs: Number(values.retry) },
  // 60 s at the default lease of 15 s, and in proportion.
  maxStallMs: values.stall === undefined ? leaseDurationMs * 4 : Number(values.stall),
  worker: values.worker,
  program,
  ...(faults === undefined ? {} : { faults }),
  log: values.quiet ? () => undefined : (line) => console.log(line),
});

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const summary = (list: readonly number[]): string =>
  `${list.length}× median ${Math.round(median(list))} ms, max ${Math.round(Math.max(0, ...list))} ms`;
for (const violation of report.violations) console.log('VIOLATION', JSON.stringify(violation));
for (const line of report.late) console.log('LATE', line);
for (const line of report.starved) console.log('STARVED', line);
console.log(`faults: ${JSON.stringify(report.byFault)}`);
console.log(
  `${report.rounds} rounds, ${report.violations.length} overlaps, ${report.late.length} late, ${report.starved.length} late for want of a processor, ${report.terms} terms, ${report.writes} protected writes; ` +
    `failover ${summary(report.failoversMs)}, bound ${report.boundsMs.failover}; ` +
    `with release on cancel ${summary(report.releasedMs)}, bound ${report.boundsMs.released} (${values.server})`,
);
const { startUpsMs, lagsMs, witnessLagsMs } = report.machine;
console.log(
  `the machine: start of a process to its first look at the lease ${summary(startUpsMs)}; ` +
    `event loops late without a fault ${summary(lagsMs)}; the witness's ${summary(witnessLagsMs)}`,
);
process.exit(report.violations.length + report.late.length > 0 ? 1 : 0);
