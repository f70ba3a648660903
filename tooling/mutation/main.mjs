/**
 * Mutation testing of one package: changes its source, one operator or statement at a time, and runs the package's own
 * tests that reach the change. A mutant that no test notices survives.
 *
 * `pnpm mutation -- workqueue [src/slot-table.ts …] [--lines 60 --seed 1] [--limit 90]`. The last result of each package is
 * in `results/`; survivors with a reason are in `explained.json`. A whole package takes a night on one core, so `--lines`
 * mutates a random sample of its lines, and a run continues where the last one ended as long as neither the source nor the
 * tests of a mutant have changed (`--anew` starts from nothing).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { outcome } from './outcome.mjs';
import { sample, sources } from './sample.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const packages = ['workqueue', 'informer', 'controller', 'client', 'leader-election'];

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    limit: { type: 'string', default: '90' },
    lines: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    anew: { type: 'boolean', default: false },
  },
});
const [name = '', ...files] = positionals;
const [limit, lines, seed] = [Number(values.limit), Number(values.lines), Number(values.seed)];
if (!packages.includes(name) || !(limit >= 0 && limit <= 100) || !(lines >= 0) || !Number.isSafeInteger(seed)) {
  console.error(
    `mutation: cannot run ${JSON.stringify({ name, ...values })}: use one of ${packages.join(', ')}, a limit of 0 to 100, a number of lines and a seed`,
  );
  process.exit(2);
}
const folder = join(root, 'packages', name);
const git = (/** @type {string[]} */ ...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim();
// Stryker changes the files where they are, because tests read others by relative paths; it restores them when it ends.
if (git('status', '--porcelain', '--', `packages/${name}/src`) !== '') {
  console.error(`mutation: packages/${name}/src has changes that are not committed: commit them first`);
  process.exit(2);
}

const cache = join(root, '.cache', 'mutation', name);
mkdirSync(cache, { recursive: true });
const incremental = join(cache, 'incremental.json');
if (values.anew) rmSync(incremental, { force: true });
const report = join(cache, 'report.json');
rmSync(report, { force: true });
const configuration = join(cache, 'stryker.json');
const toTool = (/** @type {string} */ path) => join(here, path);
writeFileSync(
  configuration,
  JSON.stringify({
    testRunner: 'vitest',
    plugins: [toTool('node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    vitest: { configFile: toTool('vitest.config.ts'), related: false },
    inPlace: true,
    mutate: lines > 0 ? sample(folder, lines, seed) : files.length > 0 ? files : sources(folder),
    // The wording of messages and the shape of tables is not what these tests are for.
    mutator: { excludedMutations: ['StringLiteral', 'ObjectLiteral', 'Regex'] },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: 1,
    // Else it writes a first line into every file of the package.
    disableTypeChecks: false,
    timeoutMS: 3_000,
    incremental: true,
    incrementalFile: incremental,
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report },
    tempDirName: relative(folder, join(cache, 'temporary')),
    allowConsoleColors: false,
  }),
);
const run = spawnSync(
  process.execPath,
  [toTool('node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', configuration],
  {
    cwd: folder,
    stdio: 'inherit',
    env: { ...process.env, KCTL_PROPERTY_SEED: process.env.KCTL_PROPERTY_SEED ?? '1' },
  },
);
if (!existsSync(report)) {
  console.error(`mutation: no report of ${name} (exit code ${run.status}); see the lines above`);
  process.exit(1);
}

const explained = JSON.parse(readFileSync(toTool('explained.json'), 'utf8'));
const result = outcome(JSON.parse(readFileSync(report, 'utf8')), explained[name] ?? []);
for (const { file, line, mutator, original, replacement } of result.survivors)
  console.log(`${file}:${line} ${mutator}: ${JSON.stringify(original)} → ${JSON.stringify(replacement)}`);
for (const line of result.stale) console.log(`explained.json: no mutant ${line}`);
// A run of some files is a look; what is committed is about the whole package.
const part = lines > 0 ? { lines, seed } : {};
if (files.length === 0)
  writeFileSync(
    toTool(`results/${name}.json`),
    `${JSON.stringify({ package: name, commit: git('rev-parse', '--short', 'HEAD'), ...part, ...result }, null, 2)}\n`,
  );
const { killed, survived, explained: known, score } = result;
console.log(`${name}: ${killed} killed, ${survived} survived, ${known} explained, score ${score} %`);
process.exitCode = score < limit || result.stale.length > 0 ? 1 : 0;
