// Benchmarks beside peers: `pnpm bench -- <name> [--rounds N] [--before <checkout>]`; without a name, all. A benchmark is
// a folder with a `benchmark.ts` that exports `benchmark`. With `--before` the peer is another checkout of this workspace.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { beside } from './harness/before.js';
import type { Benchmark } from './harness/benchmark.js';
import { formatTable, runBenchmark } from './harness/runner.js';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { rounds: { type: 'string', default: '5' }, before: { type: 'string' } },
  allowPositionals: true,
});
const fileOf = (name: string): string => join(import.meta.dirname, name, 'benchmark.ts');
const known = readdirSync(import.meta.dirname).filter((name) => existsSync(fileOf(name)));
const names = positionals.length > 0 ? positionals : known;
const rounds = Number(values.rounds);
const unknown = names.filter((name) => !known.includes(name));

if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  console.error(
    `usage: bench [${known.join(' | ')}] [--rounds N] [--before <checkout>]${unknown.length > 0 ? `; unknown: ${unknown.join(', ')}` : ''}`,
  );
  process.exitCode = 2;
} else {
  for (const name of names) {
    const { benchmark } = (await import(fileOf(name))) as { benchmark: Benchmark };
    const results = values.before === undefined ? name : `${name}-before-after`;
    const compared = values.before === undefined ? benchmark : beside(benchmark, values.before);
    const rows = await runBenchmark(results, compared, { rounds, say: (line) => console.log(line) });
    console.log(
      `\n${formatTable(rows)}\n\nwritten to bench/results/${results}.json; a ratio above 1 means that ours is better`,
    );
  }
}
