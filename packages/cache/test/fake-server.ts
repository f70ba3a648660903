import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import type { Kind, UntypedObject } from '@kctl/apimachinery';
import type { ObjectListerWatcher } from '@kctl/informer';
import type { Cache, CacheOptions } from '../src/index.js';
import { createCache } from '../src/index.js';

export const Thing: Kind<UntypedObject, 'Namespaced'> = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  scope: 'Namespaced',
});

const thing = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { namespace, name, uid: `u-${name}`, resourceVersion: '1' },
});

/** A server of three Things. What it lists of the namespace `late` waits until it is let go. */
export interface FakeServer {
  readonly letGo: () => void;
  readonly listerWatcherFor: NonNullable<CacheOptions['listerWatcherFor']>;
}

export function fakeServer(): FakeServer {
  const late = Promise.withResolvers<undefined>();
  return {
    letGo: () => late.resolve(undefined),
    listerWatcherFor: (_kind, { namespace, fieldSelector }): ObjectListerWatcher<never> => ({
      supportsWatchList: false,
      list: async () => {
        if (namespace === 'late') await late.promise;
        const all = [thing('a', 'x'), thing('b', 'y'), thing('late', 'z')];
        const items = all.filter(({ metadata }) => {
          if (namespace !== undefined) return metadata.namespace === namespace;
          return fieldSelector !== `metadata.namespace!=${metadata.namespace}`;
        });
        return { metadata: { resourceVersion: '10' }, items: items as never[] };
      },
      watch: async ({ signal }) => ({
        async *[Symbol.asyncIterator]() {
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
          yield* [];
        },
        [Symbol.asyncDispose]: async () => undefined,
      }),
    }),
  };
}

/** A cache that runs. */
export interface RunningCache {
  readonly cache: Cache;
  readonly letGo: () => void;
  readonly stop: () => Promise<void>;
}

/** Starts a cache over a server of its own. It may not have synced yet. */
export function startCache(options: Partial<CacheOptions> = {}): RunningCache {
  const { letGo, listerWatcherFor } = fakeServer();
  const cache = createCache({ client: {} as CacheOptions['client'], listerWatcherFor, ...options });
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  return {
    cache,
    letGo,
    stop: async () => {
      stop.abort();
      await run;
    },
  };
}

/** Starts a cache and waits until it has synced. */
export async function startSyncedCache(options: Partial<CacheOptions> = {}): Promise<RunningCache> {
  const running = startCache(options);
  await running.cache.waitForSync();
  return running;
}
