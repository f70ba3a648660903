import { defineKind, metadataOnly, stripped } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import { Node, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { ownerIndex } from '@kctl/cache-index';
import { listAll } from '@kctl/client';
import type { ListOptions } from '@kctl/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCache, isKindNotCached, isUnsupportedRead } from '../src/index.js';
import type { Cache, CacheOptions, KindOptions, NamespaceScopes } from '../src/index.js';

interface Thing extends KubeObject {
  spec?: { node?: string; tags?: string[] };
}
const Thing = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

const thing = (namespace: string, name: string, more: Partial<Thing> = {}): Thing => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  ...more,
  metadata: { namespace, name, uid: `u-${namespace}-${name}`, resourceVersion: '1', ...more.metadata },
});

/** A cache whose stores list what is there of these objects, and nothing later. */
function cacheOf(objects: readonly Thing[], options: Partial<CacheOptions> = {}): Cache {
  return createCache({
    client: {} as never,
    listerWatcherFor: (_kind, { namespace, fieldSelector }) => ({
      supportsWatchList: false,
      list: async () => ({
        metadata: { resourceVersion: '10' },
        items: structuredClone(
          objects.filter(({ metadata }) =>
            namespace === undefined
              ? fieldSelector !== `metadata.namespace!=${metadata.namespace ?? ''}`
              : metadata.namespace === namespace,
          ),
        ) as never[],
      }),
      watch: async ({ signal }) => ({
        async *[Symbol.asyncIterator]() {
          await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
          yield* [];
        },
        [Symbol.asyncDispose]: async () => undefined,
      }),
    }),
    ...options,
  });
}

async function running<R>(cache: Cache, use: (cache: Cache) => Promise<R>): Promise<R> {
  const stop = new AbortController();
  const run = cache.run(stop.signal);
  try {
    await cache.waitForSync();
    return await use(cache);
  } finally {
    stop.abort();
    await run;
  }
}

describe('the scope of a kind', () => {
  const limits = { namespaces: { shop: { labelSelector: 'app=web' } } };

  it('holds for its metadata, its whole and its stripped form alike', () => {
    const cache = cacheOf([], { byObject: [{ kind: Thing, ...limits }] });
    cache.informerFor(metadataOnly(Thing));
    expect(cache.scopesOf(metadataOnly(Thing))).toEqual([{ namespace: 'shop', labelSelector: 'app=web' }]);
    expect(cache.isCached(metadataOnly(Thing), 'other')).toBe(false);
    const ofMetadata = cacheOf([], { byObject: [{ kind: metadataOnly(Thing), ...limits }] });
    ofMetadata.informerFor(Thing);
    expect(ofMetadata.scopesOf(Thing)).toEqual([{ namespace: 'shop', labelSelector: 'app=web' }]);
  });

  it('reaches the metadata of a stripped kind without its transform', () => {
    const transform = (): KubeObject => ({ metadata: { name: 'transformed' } });
    const cache = cacheOf([], { byObject: [{ kind: stripped(Thing), transform, ...limits }] });
    const object = thing('shop', 'a', { metadata: { labels: { app: 'web' } } });
    expect(cache.project(metadataOnly(Thing), object)?.metadata.name).toBe('a');
    expect(cache.project(metadataOnly(Thing), thing('shop', 'a'))).toBeUndefined();
  });

  it('gives way to options of that very form', () => {
    const cache = cacheOf([], { byObject: [{ kind: Thing, ...limits }, { kind: metadataOnly(Thing) }] });
    expect(cache.scopesOf(metadataOnly(Thing))).toEqual([{}]);
  });

  it('is the same array until namespaces change, and empty for what is not held', async () => {
    const byObject = [{ kind: Thing }, { kind: Job, namespaces: { own: {} } }];
    const cache = cacheOf([], { defaultNamespaces: { a: {} }, byObject });
    const before = cache.scopesOf(Thing);
    const ofJobs = cache.scopesOf(Job);
    expect(cache.scopesOf(Thing)).toBe(before);
    expect(cache.scopesOf(Pod)).toEqual([]);
    await cache.setNamespaces({ a: {}, b: {} });
    const after = cache.scopesOf(Thing);
    expect(after).toEqual([{ namespace: 'a' }, { namespace: 'b' }]);
    expect(cache.scopesOf(Job)).toBe(ofJobs);
    await cache.setNamespaces({ b: {}, a: {} });
    expect(cache.scopesOf(Thing)).toBe(after);
  });

  it('holds for reads that start an informer: one outside of it starts none', async () => {
    const cache = cacheOf([], { defaultNamespaces: { a: {} }, undeclaredReads: 'start' });
    await running(cache, async () => {
      const isCached = (namespace?: string): boolean => cache.isCached(Thing, namespace);
      expect([isCached(), isCached('a'), isCached('z'), cache.isCached(Node, 'z')]).toEqual([true, true, false, true]);
      await expect(cache.get(Thing, { namespace: 'z', name: 'x' })).rejects.toThrow(
        'unknown namespace for the cache: z',
      );
      await expect(cache.list(Thing, { namespace: 'z' })).rejects.toThrow('unknown namespace for the cache: z');
      expect(cache.informers()).toEqual([]);
      expect((await cache.list(Thing, { namespace: 'a' })).items).toEqual([]);
      expect(cache.informers()).toHaveLength(1);
    });
  });

  it('must not be given twice', () => {
    const twice: KindOptions[] = [{ kind: Thing }, { kind: Pod }, { kind: Thing, labelSelector: 'app=web' }];
    expect(() => cacheOf([], { byObject: twice })).toThrow(
      'createCache: byObject[2].kind example.com/v1, Kind=Thing is given already by byObject[0]: merge the two into one entry',
    );
  });

  it('is copied: options that change later change nothing', async () => {
    const selector: Record<string, string> = { app: 'web' };
    const namespaces: Record<string, NamespaceScopes[string]> = { a: { labelSelector: selector } };
    const byObject: KindOptions[] = [{ kind: Thing, namespaces }];
    const cache = cacheOf([], { byObject, defaultNamespaces: namespaces });
    const later: Record<string, NamespaceScopes[string]> = { c: {} };
    selector['app'] = 'other';
    namespaces['b'] = {};
    byObject.push({ kind: Pod, labelSelector: 'x=y' });
    cache.informerFor(metadataOnly(Thing));
    cache.informerFor(Pod);
    const expected = [{ namespace: 'a', labelSelector: { app: 'web' } }];
    expect([cache.scopesOf(Thing), cache.scopesOf(metadataOnly(Thing)), cache.scopesOf(Pod)]).toEqual([
      expected,
      expected,
      expected,
    ]);
    await cache.setNamespaces(later);
    later['d'] = {};
    cache.informerFor(Job);
    expect(cache.scopesOf(Job)).toEqual([{ namespace: 'c' }]);
  });
});

describe('a projection', () => {
  it('leaves out what the field selector leaves out', () => {
    const cache = cacheOf([], { byObject: [{ kind: Thing, fieldSelector: 'spec.node=n1,metadata.name!=c' }] });
    expect(cache.project(Thing, thing('a', 'b', { spec: { node: 'n1' } }))).toBeDefined();
    expect(cache.project(Thing, thing('a', 'b', { spec: { node: 'n2' } }))).toBeUndefined();
    expect(cache.project(Thing, thing('a', 'b'))).toBeUndefined();
    expect(cache.project(Thing, thing('a', 'c', { spec: { node: 'n1' } }))).toBeUndefined();
  });

  it('leaves out what is outside of the namespace that a field selector names', () => {
    const cache = cacheOf([], { byObject: [{ kind: Thing, fieldSelector: { 'metadata.namespace': 'a' } }] });
    expect(cache.project(Thing, thing('a', 'b'))).toBeDefined();
    expect(cache.project(Thing, thing('b', 'b'))).toBeUndefined();
  });

  it('knows the fields that a server reads elsewhere than at their path', () => {
    const cache = cacheOf([], {
      byObject: [
        { kind: Node, fieldSelector: 'spec.unschedulable=false' },
        { kind: Job, fieldSelector: 'status.successful=0' },
      ],
    });
    const metadata = { name: 'n', namespace: 'a' };
    expect(cache.project(Node, { metadata: { name: 'n' } })).toBeDefined();
    expect(cache.project(Node, { metadata: { name: 'n' }, spec: { unschedulable: true } })).toBeUndefined();
    expect(cache.project(Job, { metadata, status: { active: 1 } })).toBeDefined();
    expect(cache.project(Job, { metadata, status: { succeeded: 1 } })).toBeUndefined();
  });

  it('freezes nothing of what it is given', () => {
    const object = thing('a', 'b', { spec: { tags: ['x'] }, metadata: { labels: { app: 'web' } } });
    const held = cacheOf([], { byObject: [{ kind: Thing }] }).project(Thing, object);
    expect([Object.isFrozen(held), Object.isFrozen(held?.spec?.tags)]).toEqual([true, true]);
    object.spec?.tags?.push('y');
    object.metadata.labels = { ...object.metadata.labels, tier: 'front' };
    expect(held?.spec?.tags).toEqual(['x']);
  });
});

describe('a list', () => {
  const many = Array.from({ length: 1201 }, (_, index) => thing('a', `t-${index}`));

  it('that is cut says how much is left, so that listAll misses nothing', async () => {
    await running(cacheOf(many, { byObject: [{ kind: Thing }] }), async (cache) => {
      expect((await cache.list(Thing, { limit: 500 })).metadata.remainingItemCount).toBe(701);
      expect((await cache.list(Thing, { limit: 1201 })).metadata).toEqual({ resourceVersion: '10' });
      let count = 0;
      for await (const _item of listAll(cache, Thing)) count++;
      expect(count).toBe(1201);
    });
  });
});

describe('a matcher', () => {
  const value = fc.constantFrom('n1', 'n2', '');
  const objects = fc.uniqueArray(
    fc.record({
      namespace: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('x', 'y', 'z'),
      node: fc.option(value, { nil: undefined }),
      tags: fc.array(fc.constantFrom('s', 't'), { maxLength: 3 }),
      owner: fc.constantFrom('o1', 'o2'),
      labels: fc.constantFrom({}, { app: 'web' }),
    }),
    { maxLength: 5, selector: ({ namespace, name }) => `${namespace}/${name}` },
  );
  const reads: fc.Arbitrary<ListOptions> = fc.record(
    {
      namespace: fc.constantFrom('a', 'b'),
      labelSelector: fc.constantFrom('app=web', '!app'),
      fieldSelector: fc.oneof(
        value.map((node) => ({ 'spec.node': node })),
        fc.constantFrom('s', 't', 'u').map((tag) => ({ tag })),
        fc.constantFrom('o1', 'o2').map((owner) => ({ '.metadata.owner': owner, tag: 's' })),
        fc.constantFrom('metadata.name=x', 'metadata.namespace=a,tag=t', 'throws=1'),
        fc
          .array(fc.constantFrom('metadata.name=x', 'metadata.name=y', 'metadata.namespace=a', 'metadata.namespace=b'))
          .map((terms) => terms.join()),
      ),
    },
    { requiredKeys: [] },
  );

  /** All terms about names and namespaces hold, however often they are there. */
  const isNamed = ({ fieldSelector }: ListOptions, uid = ''): boolean => {
    const [, namespace, name] = uid.split('-');
    const terms = typeof fieldSelector === 'string' ? fieldSelector.split(',') : [];
    const of = (path: string): string[] =>
      terms.flatMap((term) => (term.startsWith(`${path}=`) ? [term.slice(path.length + 1)] : []));
    return (
      of('metadata.name').every((each) => each === name) && of('metadata.namespace').every((each) => each === namespace)
    );
  };

  it('agrees with lists: by path, header and function, whatever the selectors', async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.array(reads, { minLength: 1, maxLength: 8 }), async (specs, queries) => {
        const all = specs.map(({ namespace, name, node, tags, owner, labels }) =>
          thing(namespace, name, {
            spec: { tags, ...(node === undefined ? {} : { node }) },
            metadata: { labels, ownerReferences: [{ apiVersion: 'v1', kind: 'O', name: 'o', uid: owner }] },
          }),
        );
        const cache = cacheOf(all, { byObject: [{ kind: Thing, namespaces: { a: {}, '': {} } }] });
        cache.addIndex(Thing, 'spec.node', { path: 'spec.node' });
        cache.addIndex(Thing, '.metadata.owner', ownerIndex);
        cache.addIndex(Thing, 'tag', ({ spec }) => spec?.tags ?? []);
        cache.addIndex(Thing, 'throws', ({ metadata }) => {
          if (metadata.name === 'x') throw new Error('not this one');
          return ['1'];
        });
        await running(cache, async () => {
          for (const options of queries) {
            const listed = (await cache.list(Thing, options)).items.map(({ metadata }) => metadata.uid);
            const matches = cache.matcherFor(Thing, options);
            const held = all.map((object) => cache.project(Thing, object)).filter((object) => object !== undefined);
            const matched = held.filter(matches).map(({ metadata }) => metadata.uid);
            expect(matched.sort()).toEqual([...listed].sort());
            expect(listed.filter((uid) => !isNamed(options, uid))).toEqual([]);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it('refuses what a list refuses', () => {
    const cache = cacheOf([], { byObject: [{ kind: Thing }] });
    const failure = (options: ListOptions): unknown => {
      try {
        return cache.matcherFor(Thing, options);
      } catch (error) {
        return error;
      }
    };
    expect(failure({ fieldSelector: 'spec.node=n1' })).toSatisfy(isUnsupportedRead);
    expect(failure({ fieldSelector: 'spec.node!=n1' })).toSatisfy(isUnsupportedRead);
    expect(() => cache.matcherFor(Pod, {})).toThrow(expect.toSatisfy(isKindNotCached));
  });
});
