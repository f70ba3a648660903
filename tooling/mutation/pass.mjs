/** One run of a package's tests with its mutants; `main.mjs` starts it as a process that it can end. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';

/**
 * @typedef {{ folder: string, alive: string[], done: string[], atMostMs: number }} Pass the mutants to run, the tests that
 *   are left out, and what a test may take without a mutant to run them
 */
const here = dirname(fileURLToPath(import.meta.url));
const workplace = process.env.KCTL_MUTATION ?? '';
/** @type {Record<string, string>} */
const sources = JSON.parse(readFileSync(join(workplace, 'sources.json'), 'utf8'));
/** @type {Pass} */
const { folder } = JSON.parse(readFileSync(join(workplace, 'pass.json'), 'utf8'));

/** A property that one line breaks is broken by one of a few runs, and most mutants are not of what it is about. */
const withFewRuns = (/** @type {string} */ code) => code.replace(/\bnumRuns: ([\w.]+)/g, 'numRuns: Math.min(40, $1)');

const vitest = await startVitest(
  'test',
  process.argv.slice(2),
  {
    root: folder,
    config: join(here, 'vitest.config.ts'),
    watch: false,
    // It would give the next run the mutants of this one.
    fsModuleCache: false,
    runner: join(here, 'runner.mjs'),
    fileParallelism: false,
    reporters: [{}],
    onConsoleLog: () => false,
  },
  {
    plugins: [
      {
        name: 'mutants',
        enforce: 'pre',
        transform: (code, id) => {
          const source = sources[id.split('?')[0] ?? id] ?? withFewRuns(code);
          return source === code ? undefined : { code: source, map: null };
        },
      },
    ],
  },
);
await vitest.close();
process.exit(0);
