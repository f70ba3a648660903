import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests run on sources: nothing has to be built first. The condition must be set for both resolvers. */
const conditions = ['@kctl/source'];

/** Only where a seed is asked for: loading fast-check costs every test file a moment. */
const isRepeatable = process.env.CI !== undefined || process.env.KCTL_PROPERTY_SEED !== undefined;
const repeatable = isRepeatable ? [fileURLToPath(new URL('property-seed.js', import.meta.url))] : [];

/** Where Node keeps the code of the programs that tests start: stripping types and compiling is most of their start. */
const compileCache = fileURLToPath(new URL('../../.cache/compiled', import.meta.url));

/** `KCTL_STORAGE=compact` replaces the default of @kctl/informer: any suite then runs on compressed objects. */
const otherStorage =
  process.env.KCTL_STORAGE === 'compact'
    ? [{ find: /^.*\/default-storage\.js$/, replacement: fileURLToPath(new URL('compact-storage.js', import.meta.url)) }]
    : [];

/**
 * @param {{
 *   name?: string, include?: string[], exclude?: string[], testTimeout?: number, setupFiles?: string[], isolate?: boolean,
 * }} [options]
 */
export function packageTests(options = {}) {
  return defineConfig({
    resolve: { conditions, alias: otherStorage },
    ssr: { resolve: { conditions } },
    test: {
      ...(options.name === undefined ? {} : { name: options.name }),
      include: options.include ?? ['src/**/*.test.ts', 'test/**/*.test.ts'],
      exclude: ['**/node_modules/**', '**/dist/**', ...(options.exclude ?? [])],
      environment: 'node',
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compileCache },
      pool: 'forks',
      // Many tests wait for sockets and processes: on two cores one worker, which is the default, leaves both idle.
      maxWorkers: Math.max(2, availableParallelism()),
      // Nothing in @kctl is global, so files can share a process: it halves the CPU time of the suite.
      isolate: options.isolate ?? false,
      // They end what hangs, on the slowest machine, and say nothing about speed.
      testTimeout: options.testTimeout ?? 300_000,
      hookTimeout: 300_000,
      passWithNoTests: true,
      unstubGlobals: true,
      server: { deps: { external: [/\.cjs$/] } },
      setupFiles: [...repeatable, ...(options.setupFiles ?? [])],
    },
  });
}
