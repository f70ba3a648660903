// Benchmarks beside peers: `pnpm bench -- <name> [--rounds N] [--before <checkout>]`; without a name, all. A benchmark is
// a folder with a `benchmark.ts` that exports `benchmark`, or `run` where nothing is compared. With `--before` the peer is
// another checkout of this workspace.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { beside } from './harness/before.js';
                                                        
                                                         
import { formatTable, runBenchmark } from './harness/runner.js';

/** What a `benchmark.ts` exports. `run` returns whether what it found is in order. */
              
                                     
                                                                                                   

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { rounds: { type: 'string' }, before: { type: 'string' } },
  allowPositionals: true,
});
const fileOf = (name        )         => join(import.meta.dirname, name, 'benchmark.ts');
const known = readdirSync(import.meta.dirname).filter((name) => existsSync(fileOf(name)));
const names = positionals.length > 0 ? positionals : known;
const given = values.rounds === undefined ? undefined : Number(values.rounds);
const unknown = names.filter((name) => !known.includes(name));

if (unknown.length > 0 || (given !== undefined && (!Number.isInteger(given) || given < 1))) {
  console.error(
    `usage: bench [${known.join(' | ')}] [--rounds N] [--before <checkout>]${unknown.length > 0 ? `; unknown: ${unknown.join(', ')}` : ''}`,
  );
  process.exitCode = 2;
} else {
  for (const name of names) {
    const program = (await import(fileOf(name)))           ;
    const say = (line        )       => console.log(line);
    if ('run' in program) {
      if (!(await program.run({ rounds: given ?? program.defaultRounds, say }))) process.exitCode = 1;
      console.log(`written to bench/results/${name}.json`);
      continue;
    }
    const { benchmark } = program;
    const results = values.before === undefined ? name : `${name}-before-after`;
    const compared = values.before === undefined ? benchmark : beside(benchmark, values.before);
    const rows = await runBenchmark(results, compared, { rounds: given ?? 5, say });
    console.log(
      `\n${formatTable(rows)}\n\nwritten to bench/results/${results}.json; a ratio above 1 means that ours is better`,
    );
  }
}
