// `pnpm simulate -- --seeds N --minutes M --only rule --operator name --hours H --replay seed`: simulated hours of the
// operators of this repository. Prints what it finds; exit code 1 on a violation. `--hours` goes on with further seeds of
// all operators in turn until that much was simulated. `--replay` shows a seed step by step. `--record file` writes what came
// of it. `--intensity 3` has faults three times as often, `--faults partition,stall` these alone. `--log file` adds to the
// hours of earlier runs, and goes on until `--hours` are there in all.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import {
  defaultFaultRates,
  isSimulationFailed,
  ruleNames,
  simulate,
  type SimulateOptions,
  type Step,
} from '@kctl/simulation';
import { HoursLog } from './hours-log.js';
import { namedOperators, operators } from './operators/index.js';
import { formatRecord, type OperatorRecord } from './record.js';
import { stepThrough } from './step-through.js';

const { values } = parsed({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    seeds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '60' },
    hours: { type: 'string' },
    only: { type: 'string', multiple: true },
    operator: { type: 'string', multiple: true },
    replicas: { type: 'string' },
    replay: { type: 'string' },
    record: { type: 'string' },
    log: { type: 'string' },
    compare: { type: 'string', default: 'yes' },
    verify: { type: 'string', default: 'yes' },
    shrink: { type: 'string', default: 'yes' },
    faults: { type: 'string', default: 'all' },
    intensity: { type: 'string', default: '1' },
    'quiet-minutes': { type: 'string', default: '10' },
  },
});
for (const name of ['seeds', 'seed', 'minutes', 'hours', 'replicas', 'replay', 'intensity', 'quiet-minutes'] as const) {
  const value = values[name];
  if (value !== undefined && !(Number(value) >= 0 && value.trim() !== '' && Number.isFinite(Number(value))))
    refuse(`--${name} ${value} is not a number: expected 0 or more`);
}

const faultsKnown = Object.keys(defaultFaultRates);
const names = values.operator ?? Object.keys(operators);
for (const name of names) {
  if (namedOperators[name] !== undefined) continue;
  refuse(`there is no operator ${JSON.stringify(name)}: expected some of ${Object.keys(namedOperators).join(', ')}`);
}
const unknownFaults = values.faults.split(',').filter((name) => !['all', 'none', ...faultsKnown].includes(name));
if (unknownFaults.length > 0)
  refuse(
    `--faults ${values.faults} has no fault ${JSON.stringify(unknownFaults[0])}: expected all, none, or some of ${faultsKnown.join(', ')}`,
  );
// These operators have no rules of their own: with an unknown one alone, nothing would be looked at.
const unknownRule = values.only?.find((name) => !ruleNames.includes(name));
if (unknownRule !== undefined) refuse(`--only ${unknownRule} is not a rule: expected some of ${ruleNames.join(', ')}`);
const started = process.cpuUsage();
const log = values.log === undefined ? undefined : new HoursLog(values.log);
const logged = log?.runOf(execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim());
const before = logged?.cpuSeconds ?? 0;
const records = new Map(names.map((name) => [name, recordOf(name)]));
const hours = (): number => log?.hours ?? [...records.values()].reduce((sum, record) => sum + record.hours, 0);
const first = Number(values.replay ?? values.seed);

if (values.hours === undefined) {
  const seeds = values.replay === undefined ? Number(values.seeds) : 1;
  for (const name of names) await run(name, first, seeds);
} else {
  const wanted = Number(values.hours);
  for (let seed = first; hours() < wanted; seed++)
    for (const name of names) if (hours() < wanted) await run(name, log?.nextSeed(name, first) ?? seed, 1);
}
const cpuSeconds = secondsSinceStart();
console.log(formatRecord(records, cpuSeconds));
if (values.record !== undefined) writeFileSync(values.record, `${formatRecord(records, cpuSeconds)}\n`);
process.exitCode = [...records.values()].some(({ violations }) => violations.length > 0) ? 1 : 0;

function refuse(problem: string): never {
  console.error(`simulate: ${problem}`);
  process.exit(2);
}

/** What `parseArgs` makes of the arguments; what is wrong with them is said without a stack. */
function parsed<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function recordOf(name: string): OperatorRecord {
  const made: OperatorRecord = { seeds: [], hours: 0, faults: 0, violations: [] };
  return logged === undefined ? made : (logged.records[name] ??= made);
}

function secondsSinceStart(): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1e6;
}

function save(): void {
  if (log === undefined || logged === undefined) return;
  logged.cpuSeconds = before + secondsSinceStart();
  log.save();
}

/** The default faults, or those that are named, so many times as often. */
function ratesOf(faults: string, intensity: number): NonNullable<SimulateOptions['faults']> {
  if (faults === 'none' || (faults === 'all' && intensity === 1)) return faults;
  const chosen = faults === 'all' ? Object.keys(defaultFaultRates) : faults.split(',');
  const rates = new Map<string, number>(Object.entries(defaultFaultRates));
  return Object.fromEntries(chosen.map((fault) => [fault, (rates.get(fault) ?? 0) * intensity]));
}

async function run(name: string, seed: number, seeds: number): Promise<void> {
  const isReplay = values.replay !== undefined;
  const record = records.get(name) ?? recordOf(name);
  const steps: Step[] = [];
  const make = namedOperators[name];
  if (make === undefined) return;
  const options: SimulateOptions = {
    ...make(),
    seeds,
    seed,
    simulatedMinutes: Number(values.minutes),
    quietMs: 60_000 * Number(values['quiet-minutes']),
    compare: values.compare === 'yes',
    countObjects: values.verify === 'yes' && seed === first ? 'first' : false,
    verifyReplay: values.verify === 'yes' && seed === first ? 'first' : false,
    shrink: values.shrink === 'yes' && !isReplay,
    faults: ratesOf(values.faults, Number(values.intensity)),
    ...(values.replicas === undefined ? {} : { replicas: Number(values.replicas) }),
    ...(values.only === undefined ? {} : { only: values.only }),
    ...(isReplay ? { onStep: (step) => void steps.push(step) } : {}),
    onSeed: (done) => {
      record.seeds.push(done.seed);
      record.hours += done.simulatedHours;
      record.faults += done.faults;
      console.log(
        `${name}: seed ${done.seed}, ${done.simulatedHours.toFixed(1)} h, ${done.faults} faults, trace ${done.hash}`,
      );
    },
  };
  try {
    await simulate(options);
  } catch (error) {
    if (!isSimulationFailed(error)) throw error;
    record.seeds.push(error.seed);
    record.hours += error.simulatedHours;
    record.violations.push({ seed: error.seed, rule: error.violation.rule });
    console.log(
      `\n${name}: ${error.message}\n\nfound after ${error.seedsRun} seeds, shrunk to a run with ${error.faults} faults\n`,
    );
  }
  save();
  if (isReplay) await stepThrough(steps);
}
