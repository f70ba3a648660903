// `pnpm chaos [-- --seconds N --seed S --only crash-points,operator,informer --applications N --kills K]`: breaks things
// for a while, and looks at what is left. The last line is `N faults, N violations`.
import { parseArgs } from 'node:util';
import { runChaos, scenarios, type ScenarioName } from './chaos.js';
import { createReport } from './report.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string' },
    applications: { type: 'string', default: '200' },
    kills: { type: 'string' },
    faults: { type: 'string', default: '10' },
    edits: { type: 'string', default: '40' },
  },
});

/** @throws RangeError naming the option */
function positive(name: keyof typeof values, given: string): number {
  const value = Number(given);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new RangeError(`--${name} ${JSON.stringify(given)} is not valid: expected a number from 0`);
}

function chosen(): readonly ScenarioName[] {
  if (values.only === undefined) return scenarios;
  return values.only.split(',').map((name) => {
    const scenario = scenarios.find((each) => each === name);
    if (scenario === undefined)
      throw new RangeError(`--only ${JSON.stringify(name)} is not known: expected ${scenarios.join(', ')}`);
    return scenario;
  });
}

const report = createReport((line) => console.log(line));
try {
  await runChaos({
    seconds: positive('seconds', values.seconds),
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : positive('seed', values.seed),
    only: chosen(),
    applications: positive('applications', values.applications),
    ...(values.kills === undefined ? {} : { kills: positive('kills', values.kills) }),
    faultsPerSecond: positive('faults', values.faults),
    editsPerSecond: positive('edits', values.edits),
    report,
  });
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
console.log(report.summary());
if (report.violations.length > 0) process.exitCode = 1;
