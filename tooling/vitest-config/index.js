import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests run on sources: nothing has to be built first. The condition must be set for both resolvers. */
const conditions = ['@kctl/source'];

/** Only where a seed is asked for: loading fast-check costs every test file a moment. */
const isRepeatable = process.env.CI !== undefined || process.env.KCTL_PROPERTY_SEED !== undefined;
const repeatable = isRepeatable ? [fileURLToPath(new URL('property-seed.js', import.meta.url))] : [];

/** @param {{ include?: string[], testTimeout?: number, setupFiles?: string[], isolate?: boolean }} [options] */
export function packageTests(options = {}) {
  return defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: options.include ?? ['src/**/*.test.ts', 'test/**/*.test.ts'],
      exclude: ['**/node_modules/**', '**/dist/**'],
      environment: 'node',
      pool: 'forks',
      // Many tests wait for sockets and processes: on two cores one worker, which is the default, leaves both idle.
      maxWorkers: Math.max(2, availableParallelism()),
      // Nothing in @kctl is global, so files can share a process: it halves the CPU time of the suite.
      isolate: options.isolate ?? false,
      testTimeout: options.testTimeout ?? 60_000,
      hookTimeout: 60_000,
      passWithNoTests: true,
      unstubGlobals: true,
      setupFiles: [...repeatable, ...(options.setupFiles ?? [])],
    },
  });
}
