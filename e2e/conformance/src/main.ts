/** `pnpm conformance -- --target embedded|real|existing`: see README.md. */
import { parseArgs } from 'node:util';
import { addTotals } from '@kctl/totals';
import './cases/index.js';
import { runDifferential } from './differential/run.js';
import { startEmbedded } from './harness/embedded.js';
import { readKnownDifferences } from './harness/known-differences.js';
import { runCases, type Result } from './harness/run.js';
import { registeredCases } from './harness/spec.js';
import { startTarget, targetNames, type TargetName } from './harness/targets.js';
import { writeDifferential } from './differential/record.js';
import { release, writeVersion } from './versions.js';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    target: { type: 'string' },
    filter: { type: 'string' },
    concurrency: { type: 'string', default: '8' },
    list: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    differential: { type: 'boolean', default: false },
    webhooks: { type: 'boolean', default: false },
    users: { type: 'boolean', default: false },
    protobuf: { type: 'boolean', default: false },
    policies: { type: 'boolean', default: false },
    options: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    calls: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    session: { type: 'string' },
    version: { type: 'string' },
  },
});

const cases = registeredCases();

if (values.list) {
  for (const { id } of cases) console.log(id);
} else if (values.differential) {
  process.exitCode = (await runBoth()) ? 0 : 1;
} else {
  const { target, version } = values;
  if (!isTargetName(target) || (version !== undefined && target !== 'real')) {
    console.error(`--target ${target ?? '(missing)'}: expected one of ${targetNames.join(', ')}; --version needs real`);
    process.exit(2);
  }
  process.exitCode = (await runSuite(target, version)) ? 0 : 1;
}

async function runSuite(name: TargetName, version: string | undefined): Promise<boolean> {
  const filter = values.filter === undefined ? undefined : new RegExp(values.filter);
  const chosen = cases.filter(({ id }) => filter === undefined || filter.test(id));
  const knownDifferences = readKnownDifferences(cases.map(({ id }) => id));
  const started = performance.now();
  const isOtherRelease = version !== undefined && version !== release;
  const target = await startTarget(name, version === undefined ? {} : { release: version });
  let results: Result[];
  try {
    results = await runCases(target, chosen, {
      concurrency: Number(values.concurrency),
      knownDifferences,
      onResult({ id, outcome, reason, durationMs }) {
        if (outcome === 'failed' && !isOtherRelease)
          console.log(`FAIL  ${id} (${durationMs.toFixed(0)} ms)\n  ${reason ?? ''}`);
        else if (values.verbose)
          console.log(`${outcome}  ${id} (${durationMs.toFixed(0)} ms)${reason === undefined ? '' : `: ${reason}`}`);
      },
    });
  } finally {
    await target.stop();
  }
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const totals = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  for (const [reason, skipped] of Object.entries(
    Object.groupBy(
      results.filter(({ outcome }) => outcome === 'skipped'),
      ({ reason }) => reason ?? '',
    ),
  ))
    console.log(`skipped ${skipped?.length ?? 0}: ${reason}`);
  if (version !== undefined && filter === undefined) writeVersion(version, results);
  if (filter === undefined && !isOtherRelease) addTotals({ suite: `conformance on ${name}`, ...totals });
  console.log(`conformance on ${name} (${target.url}) in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
  // Another release may differ from this one; what it differs in is the result.
  return isOtherRelease || totals.failed === 0;
}

async function runBoth(): Promise<boolean> {
  const seed = values.seed === undefined ? Math.trunc(Math.random() * 1_000_000) : Number(values.seed);
  const calls = Number(values.calls);
  const parts = ['users', 'webhooks', 'policies', 'protobuf', 'options'] as const;
  const chosen = parts.filter((part) => values.all || values[part]);
  const has = (part: (typeof parts)[number]): boolean => chosen.includes(part);
  const flags = values.all ? ['all'] : chosen;
  const how = ['--differential', ...flags.map((flag) => `--${flag}`), `--seed ${seed}`, `--calls ${calls}`].join(' ');
  const audit = has('webhooks') || has('policies');
  console.log(`differential run: seed ${seed}, ${calls} calls (again with ${how})`);
  const started = performance.now();
  // Without controllers on either side: what they do in the background comes at different moments.
  const real = await startTarget('real', { controllers: false, audit });
  const embedded = await startEmbedded({ token: 'unused', user: 'unused' }, { controllers: false, audit });
  try {
    const result = await runDifferential([real, embedded], {
      calls,
      seed,
      webhooks: has('webhooks'),
      users: has('users'),
      policies: has('policies'),
      protobuf: has('protobuf'),
      oddOptions: has('options'),
      sessions: Number(values.concurrency),
      ...(values.session !== undefined && { session: Number(values.session) }),
      log: (line) => console.log(line),
    });
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(`seed ${seed}: ${result.calls} calls in ${seconds} s, ${result.explained} explained differences`);
    console.log(`${result.unexplained} unexplained differences`);
    if (values.record) writeDifferential({ seed, ...result, mix: chosen, seconds });
    return result.unexplained === 0;
  } finally {
    await embedded.stop();
    await real.stop();
  }
}

function isTargetName(value: string | undefined): value is TargetName {
  return targetNames.some((name) => name === value);
}
