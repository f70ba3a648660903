// Puts known defects back, one at a time, and counts the seeds until a rule finds each:
// `node e2e/simulation/src/defects.mjs [words of one defect]`. Writes e2e/simulation/results/defects.md. No source is changed:
// a loader replaces the text while the module is loaded.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defects } from './defect-list.mjs';

const [words] = process.argv.slice(2).filter((argument) => argument !== '--');
const chosen = defects.filter(({ defect }) => words === undefined || defect.includes(words));
const seeds = process.env.KCTL_DEFECT_SEEDS ?? '500';
const limitMs = Number(process.env.KCTL_DEFECT_SECONDS ?? '600') * 1000;
const rowsFile = process.env.KCTL_DEFECT_ROWS;
/** @type {string[][]} */
const rows = rowsFile !== undefined && existsSync(rowsFile) ? JSON.parse(readFileSync(rowsFile, 'utf8')) : [];
for (const { defect, file, from, to, operator = 'probe', options = [] } of chosen) {
  if (rows.some(([known]) => known === defect)) continue;
  const args = [
    '--import',
    './scripts/typescript.mjs',
    '--import',
    './e2e/simulation/src/mutate.mjs',
    '--conditions=@kctl/source',
    'e2e/simulation/src/main.ts',
    ...['--seeds', seeds, '--minutes', '15', '--quiet-minutes', '3', '--compare', 'no'],
    ...['--operator', operator, ...options],
  ];
  const env = { ...process.env, KCTL_DEFECT: JSON.stringify({ file, from, to }) };
  const { stdout, stderr, signal } = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: limitMs });
  const rule = /breaks the rule (\S+)/.exec(stdout)?.[1];
  const ran = /after (\d+) seeds?/.exec(stdout)?.[1];
  const shrunk = /with (\d+) faults/.exec(stdout)?.[1];
  const passed = stdout.split('\n').filter((line) => /: seed \d+,/.test(line)).length;
  const trouble = stderr.split('\n').find((line) => line.includes('Error')) ?? '';
  const missed = signal === null ? `not found in ${passed} seeds` : `not found in ${passed} seeds, its time was over`;
  const outcome = rule ?? (trouble === '' ? missed : trouble.slice(0, 120));
  rows.push([
    defect,
    file.replace(/^packages\//, '').replace('/src/', '/'),
    operator,
    outcome,
    ran ?? '',
    shrunk ?? '',
  ]);
  console.log(rows.at(-1)?.join(' | '));
  if (rowsFile !== undefined) writeFileSync(rowsFile, JSON.stringify(rows));
}
const found = rows.filter(([, , , , ran]) => ran !== '').length;
const table = [
  '# Defects that are put back',
  '',
  `${found} of ${rows.length} are found, each within ${seeds} seeds of 15 simulated minutes of faults. Made by \`pnpm simulate:defects\`.`,
  '',
  '| defect | where | operator | rule | seeds | faults left by shrinking |',
  '|---|---|---|---|---|---|',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
  '',
];
if (words === undefined) {
  mkdirSync('e2e/simulation/results', { recursive: true });
  writeFileSync('e2e/simulation/results/defects.md', table.join('\n'));
}
console.log(`${found} of ${rows.length} found`);
process.exitCode = found === rows.length ? 0 : 1;
