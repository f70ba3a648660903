import { defineConfig } from 'vitest/config';

/** Tests run on sources: nothing has to be built first. The condition must be set for both resolvers. */
const conditions = ['@kctl/source'];

/** @param {{ include?: string[], testTimeout?: number, setupFiles?: string[] }} [options] */
export function packageTests(options = {}) {
  return defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: options.include ?? ['src/**/*.test.ts', 'test/**/*.test.ts'],
      exclude: ['**/node_modules/**', '**/dist/**'],
      environment: 'node',
      pool: 'forks',
      testTimeout: options.testTimeout ?? 60_000,
      hookTimeout: 60_000,
      passWithNoTests: true,
      unstubGlobals: true,
      ...(options.setupFiles === undefined ? {} : { setupFiles: options.setupFiles }),
    },
  });
}
