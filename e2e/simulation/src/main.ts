// `pnpm simulate -- --seeds N --minutes M --only rule --operator name --replay seed`: simulated hours of the operators of
// this repository. Prints what it finds; exit code 1 on a violation.
import { parseArgs } from 'node:util';
import { isSimulationFailed, simulate, type SimulateOptions } from '@kctl/simulation';
import { operators } from './operators/index.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    seeds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '60' },
    only: { type: 'string', multiple: true },
    operator: { type: 'string', multiple: true },
    replay: { type: 'string' },
    compare: { type: 'string', default: 'yes' },
    shrink: { type: 'string', default: 'yes' },
    faults: { type: 'string', default: 'all' },
    'quiet-minutes': { type: 'string', default: '10' },
  },
});

const names = values.operator ?? Object.keys(operators);
const started = process.cpuUsage();
const totals = { hours: 0, faults: 0, violations: 0 };

for (const name of names) {
  const make = operators[name];
  if (make === undefined) {
    console.error(
      `simulate: there is no operator ${JSON.stringify(name)}: expected some of ${Object.keys(operators).join(', ')}`,
    );
    process.exit(2);
  }
  await run(name, make());
}
const { user, system } = process.cpuUsage(started);
console.log(`${((user + system) / 1e6).toFixed(1)} s of CPU`);
console.log(`${totals.hours.toFixed(1)} simulated hours, ${totals.faults} faults, ${totals.violations} violations`);
process.exitCode = totals.violations === 0 ? 0 : 1;

async function run(name: string, operator: SimulateOptions): Promise<void> {
  const isReplay = values.replay !== undefined;
  const options: SimulateOptions = {
    ...operator,
    seeds: isReplay ? 1 : Number(values.seeds),
    seed: Number(values.replay ?? values.seed),
    simulatedMinutes: Number(values.minutes),
    quietMs: 60_000 * Number(values['quiet-minutes']),
    compare: values.compare === 'yes',
    shrink: values.shrink === 'yes',
    faults: values.faults === 'none' ? 'none' : 'all',
    ...(values.only === undefined ? {} : { only: values.only }),
  };
  try {
    const { simulatedHours, faults, hashes } = await simulate(options);
    totals.hours += simulatedHours;
    totals.faults += faults;
    const [hash = ''] = hashes.values();
    console.log(`${name}: ${hashes.size} seeds, ${simulatedHours.toFixed(1)} h, ${faults} faults, first trace ${hash}`);
  } catch (error) {
    if (!isSimulationFailed(error)) throw error;
    totals.hours += error.simulatedHours;
    totals.faults += error.faults;
    totals.violations++;
    console.log(
      `\n${name}: ${error.message}\n\nfound after ${error.seedsRun} seeds, shrunk to a run with ${error.faults} faults\n`,
    );
  }
}
