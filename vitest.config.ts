import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      'packages/*/vitest.config.ts',
      'examples/*/vitest.config.ts',
      'tooling/*/vitest.config.ts',
      'e2e/*/vitest.config.ts',
      'bench/vitest.config.ts',
    ],
  },
});
