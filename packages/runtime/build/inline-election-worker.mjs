import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');

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
        define: { 'import.meta.url': '"file:///election-worker.js"' },
        logLevel: 'error',
      });
      const text = await readFile(path, 'utf8');
      const [{ text: program }] = outputFiles;
      return { contents: text.replace(/= undefined;\s*$/, () => `= ${JSON.stringify(program)};\n`), loader: 'ts' };
    });
  },
};
