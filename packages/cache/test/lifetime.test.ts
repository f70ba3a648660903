import type { KubeObject } from '@kctl/apimachinery';
import { expectCost, expectCount, expectReleased, structure } from '@kctl/lifetime';
import { createSharedInformer } from '@kctl/informer';
import type { ObjectListerWatcher, SharedInformer } from '@kctl/informer';
import { noopMetrics } from '@kctl/telemetry';
import type { Metrics } from '@kctl/telemetry';
import { afterEach, expect, it } from 'vitest';
import { createCache } from '../src/index.js';
import type { Cache } from '../src/index.js';
import { resolveScopes } from '../src/scopes/resolve-scopes.js';
import { ScopedInformer } from '../src/informers/scoped-informer.js';
import { Thing } from './fake-server.js';

const namesOf = (size: number): string[] => Array.from({ length: size }, (_, at) => `n${at}`);
const scopesOf = (size: number) => Object.fromEntries(namesOf(size).map((name) => [name, {}]));

/** A server with one object `x` in each namespace. */
function listerWatcher(namespace: string): ObjectListerWatcher<KubeObject> {
  const items = [{ metadata: { namespace, name: 'x', uid: `u-${namespace}`, resourceVersion: '1' } }];
  return {
    supportsWatchList: false,
    list: () => Promise.resolve({ metadata: { resourceVersion: '10' }, items }),
    watch: ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })),
  };
}

interface Counted {
  readonly informer: ScopedInformer<KubeObject>;
  /** How often an informer of a namespace was looked at since the last call. */
  readonly looks: () => number;
  readonly stop: () => Promise<void>;
}

/** The informer of a kind in so many namespaces, synced. */
async function synced(size: number): Promise<Counted> {
  let looks = 0;
  const count = (informer: SharedInformer<KubeObject>): SharedInformer<KubeObject> =>
    new Proxy(informer, {
      get: (target, name) => {
        looks++;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const scopes = resolveScopes(Thing, { byKind: undefined, defaultNamespaces: scopesOf(size), defaults: undefined });
  const informer = new ScopedInformer<KubeObject>(Thing, scopes, ({ namespace }) => ({
    informer: count(createSharedInformer<KubeObject>({ kind: Thing, listerWatcher: listerWatcher(namespace) })),
  }));
  const stopping = new AbortController();
  const run = informer.run(stopping.signal);
  await informer.waitForSync();
  return {
    informer,
    looks: () => {
      const before = looks;
      looks = 0;
      return before;
    },
    stop: () => (stopping.abort(), run),
  };
}

/** How often informers are looked at by a read that is not the first. */
const looksOf = (read: (informer: ScopedInformer<KubeObject>) => unknown) => async (size: number) => {
  const { informer, looks, stop } = await synced(size);
  expect(read(informer)).toBeTruthy();
  looks();
  expect(read(informer)).toBeTruthy();
  const count = looks();
  await stop();
  return count;
};

const key = { namespace: 'n1', name: 'x' };

async function started(size: number): Promise<Cache> {
  const cache = createCache({
    client: {} as never,
    defaultNamespaces: scopesOf(size),
    listerWatcherFor: (_kind, { namespace = '' }) => listerWatcher(namespace) as never,
  });
  cache.informerFor(Thing);
  const stopping = new AbortController();
  const run = cache.run(stopping.signal);
  stops.push(() => (stopping.abort(), run));
  await cache.waitForSync();
  return cache;
}

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

structure(
  {
    package: '@kctl/cache',
    structure: 'Cache of many namespaces',
    operation: 'get, list in one namespace; hasSynced; a namespace that comes or goes',
    cost: 'O(1) in the namespaces; O(1); O(n)',
    retains:
      'one informer for each namespace; of a namespace that has left nothing once its handlers have received its end',
  },
  () => {
    it.each<[string, (informer: ScopedInformer<KubeObject>) => unknown]>([
      ['the informer of a namespace', (informer) => informer.partFor('n1')],
      ['get', (informer) => informer.indexer.get(key)],
      ['has', (informer) => informer.indexer.has(key)],
      ['stored', (informer) => informer.indexer.stored(key)],
      ['list of a namespace', (informer) => informer.indexer.list({ namespace: 'n1' }).length],
      [
        'an index in a namespace',
        (informer) => informer.indexer.byIndex('namespace', 'n1', { namespace: 'n1' }).length,
      ],
      ['whether it has synced', (informer) => informer.hasSynced],
      ['the lister', (informer) => informer.lister.namespace('n1').get('x')],
    ])('looks at no other namespace: %s', async (_what, read) => {
      await expectCount({ order: 'O(1)', size: 4, count: looksOf(read) });
    });

    it('reads a namespace in the same time, however many there are', async () => {
      await expectCost({
        order: 'O(1)',
        size: 20,
        prepare: started,
        run: async (cache) => {
          for (let read = 0; read < 1000; read++) await cache.get(Thing, key);
          for (let read = 0; read < 300; read++) await cache.list(Thing, { namespace: 'n1' });
        },
      });
    });

    it('gives the name of a cache that never runs back', async () => {
      const metrics: Metrics = { ...noopMetrics };
      const create = (): Cache =>
        createCache({ name: 'west', client: {} as never, listerWatcherFor: () => listerWatcher('') as never, metrics });
      await expectReleased(() => {
        const cache = create();
        expect(create).toThrow('"west" is that of another cache');
        return { keep: metrics, released: { cache } };
      });
      create();
    });

    it('lets go of a namespace that has left', async () => {
      await expectReleased(async () => {
        const { informer } = await synced(3);
        const part = informer.partFor('n1');
        if (part === undefined) throw new Error('no informer for n1');
        await informer.setScopes(informer.scopes.filter(({ namespace }) => namespace !== 'n1'));
        return { keep: informer, released: { part } };
      });
    });
  },
);
