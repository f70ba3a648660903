import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const facade = join(import.meta.dirname, '..', 'src', 'index.ts');

/** In a process of its own: others load what they like. */
const program = `
  const { createManager } = await import(${JSON.stringify(facade)});
  await createManager({ connection: { server: 'https://127.0.0.1:1' } });
  const { createRequire } = await import('node:module');
  console.log(JSON.stringify([Object.keys(createRequire('/x.js').cache), process.moduleLoadList]));
  process.exit(0);
`;

// What each of these costs is in `designs/017-what-a-process-costs.md`.
it('loads of other packages no more than connections and a metrics registry, and of Node no fetch', async () => {
  const typescript = join(root, 'scripts', 'typescript.mjs');
  const flags = ['--conditions=@kctl/source', '--import', typescript, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const [paths, builtIn] = JSON.parse(stdout) as [string[], string[]];
  // Third-party files, from the name of their package on.
  const files = paths.flatMap((path) => /^.*[\\/]node_modules[\\/](.*)$/.exec(path)?.[1]?.replaceAll('\\', '/') ?? []);
  expect(files).toEqual(expect.arrayContaining(['undici/lib/dispatcher/pool.js', 'prom-client/lib/registry.js']));
  expect(files.filter((file) => !/^(?:undici|prom-client)\/lib\//.test(file))).toEqual([]);
  const costly = /^undici\/lib\/(?:web|mock|cache|interceptor)\//;
  expect(files.filter((file) => costly.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(60);
  // On Node 22, importing the connections of undici loads Node's own copy as well.
  if (!process.versions.node.startsWith('22.'))
    expect(builtIn.filter((name) => name.endsWith('internal/deps/undici/undici'))).toEqual([]);
});
