// `pnpm chaos [-- --seconds N --seed S --only operator,crash-points,informer --applications N --kills K]`: breaks things
// for a while, and looks at what is left. The last line is `N faults, N violations`.
import { parseArgs } from 'node:util';
import { createReport } from './report.js';
import { runOperatorScenario } from './operator/scenario.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string', default: 'crash-points,operator,informer' },
    applications: { type: 'string', default: '200' },
    kills: { type: 'string' },
    faults: { type: 'string', default: '10' },
    edits: { type: 'string', default: '40' },
  },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const report = createReport((line) => console.log(line));
await runOperatorScenario({ seed, seconds, applications: Number(values.applications), kills: Number(values.kills ?? 5), faultsPerSecond: Number(values.faults), editsPerSecond: Number(values.edits), report });
console.log(report.summary());
process.exitCode = report.violations.length === 0 ? 0 : 1;
