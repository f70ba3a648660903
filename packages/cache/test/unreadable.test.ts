// An object whose bytes turn out not to be one when it is read: it costs itself, and no list of the others.
import { noopLogger } from '@kctl/telemetry';
import type { FrameListerWatcher, ListerWatcherScope } from '@kctl/informer';
import { describe, expect, it } from 'vitest';
import { createCache } from '../src/index.js';
import type { Cache, NamespaceScopes } from '../src/index.js';
import { Thing } from './fake-server.js';

const bytesOf = (namespace: string, name: string, spec: string): string =>
  `{"metadata":{"namespace":"${namespace}","name":"${name}","uid":"u-${name}","resourceVersion":"1","labels":{"app":"web"}},"spec":${spec}}`;
const stored = {
  a: [bytesOf('a', 'broken', '{"size":oops}'), bytesOf('a', 'x', '{"size":1}'), bytesOf('a', 'y', '{"size":1}')],
  b: [bytesOf('b', 'z', '{"size":1}')],
};

/** A server of bytes; one of the objects in `a` has none that can be parsed. */
function served({ namespace, fieldSelector }: ListerWatcherScope): FrameListerWatcher {
  const isIn = (within: string): boolean =>
    namespace === undefined ? fieldSelector !== `metadata.namespace!=${within}` : namespace === within;
  const items = Object.entries(stored).flatMap(([within, all]) => (isIn(within) ? all : []));
  return {
    supportsWatchList: false,
    listFrames: () =>
      Promise.resolve({
        async *[Symbol.asyncIterator]() {
          await Promise.resolve();
          yield items.map((item) => Buffer.from(item));
        },
        metadata: Promise.resolve({ resourceVersion: '10' }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    watchFrames: () => new Promise(() => undefined),
  };
}

async function withCache(namespaces: NamespaceScopes, use: (cache: Cache) => Promise<void>): Promise<unknown[]> {
  const logged: unknown[] = [];
  const cache = createCache({
    client: {} as never,
    byObject: [{ kind: Thing, namespaces }],
    listerWatcherFor: (_kind, scope) => served(scope),
    logger: { ...noopLogger, error: (message, fields) => void logged.push([message, fields?.['key']]) },
  });
  cache.addIndex(Thing, 'app', { header: ({ labels }) => [labels['app'] ?? ''] });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  await cache.waitForSync();
  await use(cache);
  stop.abort();
  await run;
  return logged;
}

const nameOf = ({ metadata }: { readonly metadata: { readonly name?: string } }): string | undefined => metadata.name;

describe.each<[string, NamespaceScopes]>([
  ['one store', { '': {} }],
  ['a store for each namespace', { a: {}, b: {} }],
  ['a store beside one for all others', { '': {}, b: {} }],
])('an object that cannot be read, in %s', (_what, namespaces) => {
  it('is left out of lists, and reported once', async () => {
    const logged = await withCache(namespaces, async (cache) => {
      const { indexer, lister } = cache.informerFor(Thing);
      for (let read = 0; read < 2; read++) {
        expect((await cache.list(Thing)).items.map(nameOf)).toEqual(['x', 'y', 'z']);
        expect((await cache.list(Thing, { namespace: 'a' })).items.map(nameOf)).toEqual(['x', 'y']);
        expect((await cache.list(Thing, { fieldSelector: 'app=web' })).items.map(nameOf)).toEqual(['x', 'y', 'z']);
        expect(lister.list().map(nameOf)).toEqual(['x', 'y', 'z']);
        expect(indexer.list({ namespace: 'a' }).map(nameOf)).toEqual(['x', 'y']);
        expect(indexer.byIndex('field:app', 'web').map(nameOf)).toEqual(['x', 'y', 'z']);
        expect(indexer.snapshot().list().map(nameOf)).toEqual(['x', 'y', 'z']);
        const x = await cache.get(Thing, { namespace: 'a', name: 'x' });
        expect(indexer.index('field:app', x).map(nameOf)).toEqual(['x', 'y', 'z']);
      }
    });
    expect(logged).toEqual([['an object cannot be read; it is skipped', 'a/broken']]);
  });

  it('does not take a place in a list with a limit', async () => {
    await withCache(namespaces, async (cache) => {
      const { items, metadata } = await cache.list(Thing, { limit: 2 });
      expect([items.map(nameOf), metadata.remainingItemCount]).toEqual([['x', 'y'], 1]);
      const all = await cache.list(Thing, { limit: 3 });
      expect([all.items.map(nameOf), all.metadata.remainingItemCount]).toEqual([['x', 'y', 'z'], undefined]);
    });
  });

  it('is not there for peek, and get says why', async () => {
    await withCache(namespaces, async (cache) => {
      const key = { namespace: 'a', name: 'broken' };
      expect(cache.peek(Thing, key)).toBeUndefined();
      await expect(cache.get(Thing, key)).rejects.toMatchObject({ code: 'KCTL_OBJECT_DECODE', key: 'a/broken' });
    });
  });
});

it('an index that does not exist is refused, also where there is no store at present', async () => {
  const cache = createCache({
    client: {} as never,
    byObject: [{ kind: Thing }],
    defaultNamespaces: { a: {}, b: {} },
    listerWatcherFor: (_kind, scope) => served(scope),
  });
  const { indexer } = cache.informerFor(Thing);
  const object = { metadata: { namespace: 'a', name: 'x' } } as never;
  const reads: readonly (() => unknown)[] = [
    () => indexer.byIndex('sise', '1'),
    () => indexer.storedByIndex('sise', '1', { namespace: 'c' }),
    () => indexer.indexKeys('sise', '1'),
    () => indexer.index('sise', object),
    () => indexer.indexValues('sise', object),
  ];
  for (const read of reads) expect(read).toThrow('Index with name sise does not exist');
  await cache.setNamespaces({});
  for (const read of reads) expect(read).toThrow('Index with name sise does not exist');
});
