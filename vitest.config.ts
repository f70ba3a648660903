import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Suites that start processes of other toolchains, or run for long, are CI's: see scripts/servers.mjs. */
const endToEnd = process.env.KCTL_E2E === '1' ? ['e2e/*/vitest.config.ts'] : [];

export default defineConfig({
  test: {
    // Many tests wait for sockets and processes: on two cores one worker, which is the default, leaves both idle.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      'packages/*/vitest.config.ts',
      'examples/*/vitest.config.ts',
      'tooling/*/vitest.config.ts',
      'bench/vitest.config.ts',
      ...endToEnd,
    ],
  },
});
