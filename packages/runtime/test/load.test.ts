import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const facade = join(import.meta.dirname, '..', 'src', 'index.ts');

/** In a process of its own: others load what they like. */
const program = `
  const { createManager, defineKind } = await import(${JSON.stringify(facade)});
  const { createRequire } = await import('node:module');
  const loaded = () => [Object.keys(createRequire('/x.js').cache), [...process.moduleLoadList]];
  const atImport = loaded();
  const manager = await createManager({ connection: { server: 'https://127.0.0.1:1' }, http: { maxRetries: 0 } });
  const kind = defineKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
  const refusal = await manager.apiReader.get(kind, { name: 'x' }).catch((error) => error.message);
  if (!refusal.includes('127.0.0.1:1')) throw new Error(refusal);
  console.log(JSON.stringify({ atImport, atRequest: loaded() }));
  process.exit(0);
`;

type Loaded = [paths: string[], builtIn: string[]];

/** Third-party files, from the name of their package on. */
const filesOf = ([paths]: Loaded): string[] =>
  paths.flatMap((path) => /^.*[\\/]node_modules[\\/](.*)$/.exec(path)?.[1]?.replaceAll('\\', '/') ?? []);

// What each of these costs is in `designs/017-what-a-process-costs.md`.
it('loads of other packages no more than a metrics registry, and at the first request connections; of Node no fetch', async () => {
  const typescript = join(root, 'scripts', 'typescript.mjs');
  const flags = ['--conditions=@kctl/source', '--import', typescript, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const { atImport, atRequest } = JSON.parse(stdout) as { readonly atImport: Loaded; readonly atRequest: Loaded };
  expect(filesOf(atImport)).toContain('prom-client/lib/registry.js');
  expect(filesOf(atImport).filter((file) => !file.startsWith('prom-client/lib/'))).toEqual([]);
  expect(atImport[1].filter((name) => /^NativeModule (?:https?|http2|inspector|child_process)$/.test(name))).toEqual(
    [],
  );
  const files = filesOf(atRequest);
  expect(files).toContain('undici/lib/dispatcher/pool.js');
  expect(files.filter((file) => !/^(?:undici|prom-client)\/lib\//.test(file))).toEqual([]);
  const costly = /^undici\/lib\/(?:web|mock|cache|interceptor)\/|proxy/;
  expect(files.filter((file) => costly.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(50);
  // On Node 22, importing the connections of undici loads Node's own copy as well.
  if (!process.versions.node.startsWith('22.'))
    expect(atRequest[1].filter((name) => name.endsWith('internal/deps/undici/undici'))).toEqual([]);
});
