import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { createManager } from '../src/index.js';

/** Third-party files that were loaded so far, from the name of their package on. */
const loaded = (): string[] =>
  Object.keys(createRequire(import.meta.url).cache).flatMap(
    (path) => /^.*[\\/]node_modules[\\/](.*)$/.exec(path)?.[1]?.replaceAll('\\', '/') ?? [],
  );

// What an import costs is in `designs/017-what-a-process-costs.md`: each of these was seen in it.
it('loads of other packages no more than connections and a metrics registry', async () => {
  await createManager({ connection: { server: 'https://127.0.0.1:1' } });
  const files = loaded();
  expect(files).toEqual(expect.arrayContaining(['undici/lib/dispatcher/pool.js', 'prom-client/lib/registry.js']));
  const costly =
    /^(?:undici\/(?:index\.js|lib\/(?:web|mock|cache|interceptor)\/)|prom-client\/index\.js|@opentelemetry|yaml|tdigest|asn1js|@kubernetes)/;
  expect(files.filter((file) => costly.test(file))).toEqual([]);
  expect(files.filter((file) => /^(?:undici|prom-client)\//.test(file)).length).toBeLessThan(60);
});
