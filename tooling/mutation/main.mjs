/**
 * Mutation testing of one package: changes its source, one operator or statement at a time, and runs the package's own
 * tests that reach the change. A mutant that no test notices survives.
 *
 * `pnpm mutation -- workqueue [src/slot-table.ts …] [--lines 60 --seed 1] [--limit 90] [--fast]`. The last result of each
 * package is in `results/`; survivors with a reason are in `explained.json`. Stryker's instrumenter makes the mutants, and
 * all of them run in one process of vitest, so that one costs a fraction of a second: a package takes an hour or two on one
 * core, and `--lines` mutates a random sample of its lines; `--fast` leaves out the tests of a second and more. Changed
 * files stay in memory.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { instrument } from './instrument.mjs';
import { ambiguous, outcome } from './outcome.mjs';
import { sample, sources } from './sample.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const packages = ['workqueue', 'informer', 'controller', 'client', 'leader-election'];
/** By what a test takes without a mutant: the fast ones kill most of the mutants, and leave few for the slow ones. */
const passes = [
  { fromMs: 0, toMs: 100 },
  { fromMs: 100, toMs: 1_000 },
  { fromMs: 1_000, toMs: 6_000 },
];
/** Of property tests and random histories: each stays below the limit of a step, also on a busy machine. */
const sizes = { KCTL_PROPERTY_SEED: '1', KCTL_RUNS: '40', KCTL_HISTORIES: '6', KCTL_TEXTS: '200', KCTL_STORES: '3' };
/** No step takes that long: the process hangs in a loop, which counts as noticed. A step without a mutant may load files. */
const hungMs = 90_000;
/** A test with a mutant ends after 8 times what it takes without; this is for a machine that has other work. */
const mutantHungMs = 20_000;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    fast: { type: 'boolean', default: false },
    limit: { type: 'string', default: '90' },
    lines: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
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
/** @type {import('./outcome.mjs').Explanation[]} */
const explained = JSON.parse(readFileSync(join(here, 'explained.json'), 'utf8'))[name] ?? [];
const wide = ambiguous(explained, (file) => readFileSync(join(folder, file), 'utf8'));
if (wide.length > 0) {
  console.error(`mutation: explained.json needs the line ("at") of each of:\n${wide.join('\n')}`);
  process.exit(2);
}
const workplace = join(root, '.cache', 'mutation', name);
rmSync(workplace, { recursive: true, force: true });
mkdirSync(workplace, { recursive: true });
const inWorkplace = (/** @type {string} */ file) => join(workplace, file);

const all = files.length > 0 ? files : sources(folder);
const { sources: instrumented, mutants } = await instrument(
  folder,
  lines > 0 ? sample(folder, all, lines, seed) : all.map((file) => ({ file })),
);
writeFileSync(inWorkplace('sources.json'), JSON.stringify(instrumented));
const verdict = { killed: new Set(), static: new Set() };
/** What the first pass saw of each test. @type {Map<string, { ms: number, reached: string[] }>} */
const tests = new Map();
const started = performance.now();
console.log(`${name}: ${mutants.length} mutants`);
for (const pass of values.fast ? passes.slice(0, -1) : passes) {
  await run(pass);
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`${name}: ${verdict.killed.size} killed by tests of less than ${pass.toMs} ms (${seconds} s)`);
}
const reached = new Set([...tests.values()].flatMap((test) => test.reached));
const onlyStatic = new Set([...verdict.static].filter((id) => !reached.has(id)));

const result = outcome(mutants, { killed: verdict.killed, static: onlyStatic }, explained);
for (const { file, line, mutator, original, replacement } of result.survivors)
  console.log(`${file}:${line} ${mutator}: ${JSON.stringify(original)} → ${JSON.stringify(replacement)}`);
const isWhole = files.length === 0 && lines === 0;
if (isWhole) for (const line of result.stale) console.log(`explained.json: no mutant ${line}`);
const part = lines > 0 ? { lines, seed } : {};
const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim();
const { stale, ...counts } = result;
// A run of some files or tests is a look; what is committed is about the whole package.
if (files.length === 0 && !values.fast)
  writeFileSync(
    join(here, 'results', `${name}.json`),
    `${JSON.stringify({ package: name, commit, ...part, ...counts }, null, 2)}\n`,
  );
const { killed, survived, explained: known, score } = result;
console.log(`${name}: ${killed} killed, ${survived} survived, ${known} explained, score ${score} %`);
process.exitCode = score < limit || (isWhole && stale.length > 0) ? 1 : 0;

/** Runs the tests with what is alive; again without the mutant at which a process hung or died. @param {{ fromMs: number, toMs: number }} pass */
async function run(pass) {
  const done = new Set();
  // Later passes choose by what the first has measured: a test that is faster this time would be in neither.
  const isFirst = pass.fromMs === 0;
  const atMostMs = isFirst ? pass.toMs : Number.MAX_SAFE_INTEGER;
  for (;;) {
    const alive = mutants.map(({ id }) => id).filter((id) => !verdict.killed.has(id));
    for (const [id, test] of tests)
      if (test.ms < pass.fromMs || test.ms >= pass.toMs || !test.reached.some((mutant) => alive.includes(mutant)))
        done.add(id);
    // After a first run that had to be ended, there may be tests that no run has come to.
    if (!isFirst && done.size === tests.size) return;
    writeFileSync(inWorkplace('pass.json'), JSON.stringify({ folder, alive, done: [...done], atMostMs }));
    writeFileSync(inWorkplace('progress.jsonl'), '');
    const hasEnded = await runPass(Math.min(hungMs, mutantHungMs + 8 * pass.toMs));
    /** @type {{ test?: string, mutant?: string } | undefined} */
    let last;
    for (const line of readFileSync(inWorkplace('progress.jsonl'), 'utf8').split('\n').filter(Boolean)) {
      const entry = JSON.parse(line);
      if (entry.failure !== undefined) verdict.killed.add(entry.mutant);
      for (const id of entry.static ?? []) verdict.static.add(id);
      if (entry.state !== undefined) done.add(entry.test);
      if (entry.state === 'pass' && !tests.has(entry.test)) tests.set(entry.test, entry);
      if (entry.failing !== undefined || (isFirst && entry.state === 'fail'))
        console.log(`fails without a mutant: ${entry.failing ?? entry.test} ${String(entry.why ?? '')}`);
      if (entry.unrepeatable !== undefined) console.log(`not repeatable: ${entry.unrepeatable}`);
      if (entry.broken !== undefined) console.log(`broken by a mutant: ${entry.broken}`);
      if (entry.test !== undefined) last = entry.state === undefined ? entry : undefined;
    }
    if (hasEnded && tests.size > 0) return;
    if (last === undefined)
      throw new Error(`mutation: the tests of ${name} end before the first of them: see ${inWorkplace('output.log')}`);
    if (last.mutant === undefined) done.add(last.test);
    else verdict.killed.add(last.mutant);
  }
}

/** @param {number} stepMs what a test with a mutant may take @returns {Promise<boolean>} whether it ran to its end */
async function runPass(stepMs) {
  const log = openSync(inWorkplace('output.log'), 'a');
  const child = spawn(process.execPath, [join(here, 'pass.mjs')], {
    cwd: folder,
    stdio: ['ignore', log, log],
    detached: true,
    env: { ...sizes, ...process.env, KCTL_MUTATION: workplace },
  });
  closeSync(log);
  let size = 0;
  let since = performance.now();
  const watch = setInterval(() => {
    const progress = readFileSync(inWorkplace('progress.jsonl'), 'utf8');
    const isMutated = /"mutant":"\d+"\}\n$/.test(progress);
    if (progress.length !== size) [size, since] = [progress.length, performance.now()];
    else if (performance.now() - since > (isMutated ? stepMs : hungMs) && child.pid !== undefined)
      process.kill(-child.pid, 'SIGKILL');
  }, 1_000);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watch);
  return code === 0;
}
