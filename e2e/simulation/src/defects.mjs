// Puts known defects back, one at a time, and counts the seeds until a rule finds each:
// `node e2e/simulation/src/defects.mjs [words of one defect]`. Writes e2e/simulation/results/defects.md. No source is changed:
// a loader replaces the text while the module is loaded. KCTL_DEFECT_ROWS names a file that keeps rows between runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defects } from './defect-list.mjs';

const [words] = process.argv.slice(2).filter((argument) => argument !== '--');
// KCTL_DEFECT_PART=0/2: every second one, for two processes.
const [part = 0, parts = 1] = (process.env.KCTL_DEFECT_PART ?? '0/1').split('/').map(Number);
const shrink = process.env.KCTL_DEFECT_SHRINK ?? 'yes';
const chosen = defects.filter(
  ({ defect }, index) => index % parts === part && (words === undefined || defect.includes(words)),
);
const seeds = process.env.KCTL_DEFECT_SEEDS ?? '500';
const limitSeconds = Number(process.env.KCTL_DEFECT_SECONDS ?? '300');
const rowsFile = process.env.KCTL_DEFECT_ROWS;

/** @typedef {{ defect: string, where: string, operator: string, rule: string, seeds: number, faults: number | undefined, isFound: boolean, isShrunk?: boolean }} Row */

/** @type {Row[]} */
const rows = rowsFile !== undefined && existsSync(rowsFile) ? JSON.parse(readFileSync(rowsFile, 'utf8')) : [];

/**
 * @param {import('./defect-list.d.mts').Defect} defect
 * @param {readonly string[]} more
 * @returns {Row}
 */
function hunt({ defect, edits, operator = 'probe', replicas, faults: struck = 'all', intensity = 3 }, more) {
  const args = [
    ...['--import', './scripts/typescript.mjs', '--import', './e2e/simulation/src/mutate.mjs'],
    ...['--conditions=@kctl/source', 'e2e/simulation/src/main.ts', '--seeds', seeds, '--operator', operator],
    ...['--minutes', '12', '--quiet-minutes', '3', '--compare', 'no', '--verify', 'no'],
    ...['--faults', struck, '--intensity', String(intensity)],
    ...[
      '--shrink',
      shrink === 'yes' ? 'yes' : 'no',
      ...(replicas === undefined ? [] : ['--replicas', String(replicas)]),
      ...more,
    ],
  ];
  const env = { ...process.env, KCTL_DEFECT: JSON.stringify(edits) };
  // In seconds of CPU, so that what else runs on the machine does not count.
  const limited = ['-c', `ulimit -t ${limitSeconds}; exec "$0" "$@"`, process.execPath, ...args];
  const { stdout, stderr, signal } = spawnSync('bash', limited, { encoding: 'utf8', env });
  const rule = /breaks the rule (\S+)/.exec(stdout)?.[1];
  const passed = stdout.split('\n').filter((line) => /: seed \d+,/.test(line)).length;
  const trouble = stderr.split('\n').find((line) => line.includes('Error')) ?? '';
  const missed =
    trouble === '' ? (signal === null ? 'not found' : 'not found, its time was over') : trouble.slice(0, 120);
  const faults = /with (\d+) faults/.exec(stdout)?.[1];
  return {
    defect,
    where: edits.map(({ file }) => file.replace(/^packages\//, '').replace('/src/', '/')).join(', '),
    operator,
    rule: rule ?? missed,
    seeds: Number(/after (\d+) seeds?/.exec(stdout)?.[1] ?? passed),
    faults: faults === undefined ? undefined : Number(faults),
    isFound: rule !== undefined,
  };
}

for (const defect of chosen) {
  if (rows.some((row) => row.defect === defect.defect)) continue;
  let row = hunt(defect, []);
  // A rule that another mistake would break as well does not name this one: look for one that does.
  if (row.isFound && defect.rules !== undefined && !defect.rules.includes(row.rule))
    row = hunt(
      defect,
      defect.rules.flatMap((rule) => ['--only', rule]),
    );
  // What the same seed breaks without the defect was not found by it.
  if (row.isFound) {
    const control = hunt({ ...defect, edits: [] }, ['--seeds', '1', '--seed', String(row.seeds), '--only', row.rule]);
    if (control.isFound) row = { ...row, rule: `${row.rule}, also without the defect`, isFound: false };
  }
  rows.push(row);
  console.log(Object.values(row).join(' | '));
  if (rowsFile !== undefined) writeFileSync(rowsFile, JSON.stringify(rows));
}
// Shrinking takes many runs: after all have been looked for.
for (const [index, row] of rows.entries()) {
  if (shrink !== 'later' || !row.isFound || row.isShrunk === true) continue;
  const defect = chosen.find((each) => each.defect === row.defect);
  if (defect === undefined) continue;
  const again = hunt(defect, ['--seed', String(row.seeds), '--seeds', '1', '--only', row.rule, '--shrink', 'yes']);
  if (!again.isFound) continue;
  rows[index] = { ...row, faults: again.faults, isShrunk: true };
  console.log(`${row.defect}: ${again.faults} faults`);
  if (rowsFile !== undefined) writeFileSync(rowsFile, JSON.stringify(rows));
}
const found = rows.filter(({ isFound }) => isFound).length;
const table = [
  '# Defects that are put back',
  '',
  `${found} of ${rows.length} are found. Made by \`pnpm simulate:defects\`: at most ${seeds} seeds each, of 12 simulated minutes with three times the default faults (one every three seconds or so) and 3 quiet minutes, and ${limitSeconds} s of CPU. The last column is what shrinking leaves of the faults.`,
  '',
  '| defect | where | operator | rule | seeds | faults |',
  '|---|---|---|---|---|---|',
  ...rows.map(
    ({ defect, where, operator, rule, seeds: needed, faults = '', isShrunk }) =>
      `| ${defect} | ${where} | ${operator} | ${rule} | ${needed} | ${shrink === 'yes' || isShrunk === true ? faults : `(${faults})`} |`,
  ),
  '',
];
if (words === undefined && parts === 1) {
  mkdirSync('e2e/simulation/results', { recursive: true });
  writeFileSync('e2e/simulation/results/defects.md', table.join('\n'));
}
console.log(`${found} of ${rows.length} found`);
process.exitCode = found === rows.length ? 0 : 1;
