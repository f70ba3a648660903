import { packageTests } from '@kctl/vitest-config';
import { defineConfig } from 'vitest/config';

/** Suites that start processes of other toolchains, or run for long, are CI's: see scripts/servers.mjs. */
const hasEndToEnd = process.env.KCTL_E2E === '1';

/** Each package as `pnpm test` runs it in its folder; what `--project @kctl/x` names. */
const separate = [
  'packages/*/vitest.config.ts',
  'examples/*/vitest.config.ts',
  'tooling/*/vitest.config.ts',
  'bench/vitest.config.ts',
  ...(hasEndToEnd ? ['e2e/*/vitest.config.ts'] : []),
];

const folders = '{packages/*,examples/*,tooling/*,bench}/{src,test}/**';
/** Tests that collect or count a heap: in a process that has run every other test, that takes long and counts the others. */
const memory = [
  `${folders}/*{lifetime,leak,memory}.test.ts`,
  'packages/simulation/test/taking-part.test.ts',
  'tooling/lifetime/test/*.test.ts',
];
/** A project as npm create makes it: node:test runs its tests, from packages/create. */
const created = 'examples/greeting/**';
/** A project has its own modules: each of 50 projects would transform the packages below it again, a third of the time. */
const together = [
  packageTests({ name: 'memory', include: memory, isolate: true }),
  packageTests({
    name: 'unit',
    include: [`${folders}/*.test.ts`],
    exclude: [...memory, created],
  }),
];

const isSeparate = hasEndToEnd || process.argv.some((argument) => /^(--project=)?@kctl\//.test(argument));

export default defineConfig({ test: { projects: isSeparate ? separate : together } });
