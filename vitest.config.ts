import { defineConfig } from 'vitest/config';

/** Suites that start processes of other toolchains, or run for long, are CI's: see scripts/servers.mjs. */
const endToEnd = process.env.KCTL_E2E === '1' ? ['e2e/*/vitest.config.ts'] : [];

export default defineConfig({
  test: {
    projects: [
      'packages/*/vitest.config.ts',
      'examples/*/vitest.config.ts',
      'tooling/*/vitest.config.ts',
      'bench/vitest.config.ts',
      ...endToEnd,
    ],
  },
});
