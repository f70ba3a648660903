import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');

/**
 * What undici's index loads beside connections and requests; the thread renews a lease and uses none of it. Of its HTTP
 * parser it has two builds of the same size, and takes the plain one where that with SIMD is not there: for a request
 * every two seconds that is as good.
 */
const unused =
  /[\\/]undici[\\/]lib[\\/](?:web[\\/](?:fetch[\\/]index|websocket[\\/].*|eventsource[\\/].*|cache[\\/].*|cookies[\\/].*)|mock[\\/].*|cache[\\/].*|interceptor[\\/].*|handler[\\/](?:retry|redirect|cache|deduplication)[^\\/]*|llhttp[\\/]llhttp_simd-wasm)\.js$/;

/** Replaces {@link unused} by classes without members: undici's index refers to them by name, and calls none. */
const withoutUnused = {
  name: 'without-unused',
  setup({ onLoad }) {
    onLoad({ filter: unused }, () => ({ contents: 'module.exports = new Proxy({}, { get: () => class {} });' }));
  },
};

export const inlineElectionWorker = {
  name: 'inline-election-worker',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]runtime[\\/]src[\\/]election-worker-source\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        entryPoints: [join(source, 'election-worker.ts')],
        bundle: true,
        write: false,
        minify: true,
        platform: 'node',
        target: 'node22',
        format: 'cjs',
        conditions: ['@kctl/source'],
        // A script has no URL; what looks at it only looks for files that are not there.
        // undici leaves its second, experimental HTTP parser out where this is defined, as in Node itself.
        define: { 'import.meta.url': '"file:///election-worker.js"', esbuildDetection: '1' },
        logLevel: 'error',
        plugins: [withoutUnused],
      });
      const text = await readFile(path, 'utf8');
      const [{ contents: program }] = outputFiles;
      const compressed = brotliCompressSync(program, {
        params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: program.length },
      });
      const literal = JSON.stringify(compressed.toString('base64'));
      return { contents: text.replace(/= undefined;\s*$/, () => `= ${literal};\n`), loader: 'ts' };
    });
  },
};
