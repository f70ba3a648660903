import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import type { IndexDefinition } from '../index-definition.js';
import type { Indexer } from '../indexer.js';

/** What the suite takes. */
export interface IndexerSuiteOptions {
  /** An empty indexer with these indexes. */
  readonly create: (indexers?: Readonly<Record<string, IndexDefinition<Sample>>>) => Indexer<Sample>;
}

/** The objects that the suite stores. */
export interface Sample extends KubeObject {
  spec?: { node?: string; tags?: string[] };
}

interface SampleOptions {
  readonly version?: string;
  readonly node?: string;
  readonly tags?: string[];
  readonly labels?: Record<string, string>;
}

function sample(key: string, { version = '1', node, tags, labels }: SampleOptions = {}): Sample {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
  return {
    apiVersion: 'v1',
    kind: 'Sample',
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name: name ?? '',
      resourceVersion: version,
      ...(labels === undefined ? {} : { labels }),
    },
    spec: { ...(node === undefined ? {} : { node }), ...(tags === undefined ? {} : { tags }) },
  };
}

const byNode: IndexDefinition<Sample> = { path: 'spec.node' };
const byTag: IndexDefinition<Sample> = (object) => object.spec?.tags ?? [];

/** Runs the suite. */
export function describeIndexer(name: string, { create }: IndexerSuiteOptions): void {
  describe(`${name} is an Indexer`, () => {
    describe('objects', () => {
      it('returns what was put, by key, namespaced or not', () => {
        const store = create();
        store.put(sample('a/x'));
        store.put(sample('y'));
        expect(store.get({ namespace: 'a', name: 'x' })?.metadata.name).toBe('x');
        expect(store.get({ name: 'y' })?.metadata.name).toBe('y');
        expect(store.get({ name: 'x' })).toBeUndefined();
        expect(store.get({ namespace: '', name: 'y' })).toBe(store.get({ name: 'y' }));
        expect(store.size).toBe(2);
      });

      it('replaces by key', () => {
        const store = create();
        store.put(sample('a/x', { version: '1' }));
        store.put(sample('a/x', { version: '2' }));
        expect(store.size).toBe(1);
        expect(store.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion).toBe('2');
      });

      it('deletes, and says what it was', () => {
        const store = create();
        store.put(sample('a/x'));
        expect(store.delete({ namespace: 'a', name: 'x' })?.metadata.name).toBe('x');
        expect(store.delete({ namespace: 'a', name: 'x' })).toBeUndefined();
        expect(store.size).toBe(0);
      });

      it('lists in the order of namespace and name, whatever the order of the writes', () => {
        const store = create();
        for (const key of ['b/x', 'a/z', 'c', 'a/a']) store.put(sample(key));
        expect(store.listKeys()).toEqual(['c', 'a/a', 'a/z', 'b/x']);
        store.put(sample('a/m'));
        store.delete({ namespace: 'b', name: 'x' });
        store.put(sample('b/a'));
        expect(store.listKeys()).toEqual(['c', 'a/a', 'a/m', 'a/z', 'b/a']);
        expect(store.listKeys({ namespace: 'a' })).toEqual(['a/a', 'a/m', 'a/z']);
        expect(store.listKeys({ namespace: 'none' })).toEqual([]);
      });

      it('lists by labels', () => {
        const store = create();
        store.put(sample('a/x', { labels: { app: 'web' } }));
        store.put(sample('a/y'));
        const selector = { matches: (labels: Readonly<Record<string, string>> = {}) => labels['app'] === 'web' };
        expect(store.list({ selector }).map((object) => object.metadata.name)).toEqual(['x']);
      });

      it('refuses an object without a name', () => {
        expect(() => create().put({ metadata: {} })).toThrow(TypeError);
      });

      it('replaces everything at once', () => {
        const store = create({ node: byNode });
        store.put(sample('a/x', { node: 'n1' }));
        store.replace([sample('a/y', { node: 'n2' })], '9');
        expect(store.listKeys()).toEqual(['a/y']);
        expect(store.listIndexFuncValues('node')).toEqual(['n2']);
        expect(store.resourceVersion).toBe('9');
      });
    });

    describe('isolation', () => {
      it('hands out objects that cannot be changed', () => {
        const store = create();
        const stored = store.put(sample('a/x', { tags: ['t'] }));
        expect(() => Object.assign(stored.metadata, { name: 'z' })).toThrow(TypeError);
        expect(() => Array.prototype.push.call(stored.spec?.tags, 'u')).toThrow(TypeError);
        expect(store.get({ namespace: 'a', name: 'x' })).toBe(stored);
      });

      it('keeps what did not change identical', () => {
        const store = create();
        const first = store.put(sample('a/x', { version: '1', tags: ['t'] }));
        const second = store.put(sample('a/x', { version: '2', tags: ['t'] }));
        expect(second).not.toBe(first);
        expect(second.spec).toBe(first.spec);
      });

      it('returns arrays and snapshots that later writes do not change', () => {
        const store = create();
        store.put(sample('a/x', { version: '1' }));
        const list = store.list();
        const snapshot = store.snapshot();
        store.put(sample('a/x', { version: '2' }));
        store.put(sample('a/y'));
        store.delete({ namespace: 'a', name: 'x' });
        expect(list.map((object) => object.metadata.resourceVersion)).toEqual(['1']);
        expect(snapshot.size).toBe(1);
        expect(snapshot.get({ namespace: 'a', name: 'x' })?.metadata.resourceVersion).toBe('1');
        expect(snapshot.list({ namespace: 'a' })).toHaveLength(1);
        expect(snapshot.resourceVersion).toBe('1');
        list.pop();
        expect(store.list()).toHaveLength(1);
      });
    });

    describe('indexes', () => {
      it('find objects by each of their values', () => {
        const store = create({ tag: byTag });
        store.put(sample('a/x', { tags: ['red', 'big'] }));
        store.put(sample('b/y', { tags: ['red'] }));
        expect(store.indexKeys('tag', 'red')).toEqual(['a/x', 'b/y']);
        expect(store.byIndex('tag', 'big').map((object) => object.metadata.name)).toEqual(['x']);
        expect(store.byIndex('tag', 'red', { namespace: 'b' })).toHaveLength(1);
        expect(store.byIndex('tag', 'none')).toEqual([]);
        expect(store.listIndexFuncValues('tag')).toEqual(['big', 'red']);
      });

      it('follow updates and deletes, and keep no empty values', () => {
        const store = create({ tag: byTag, node: byNode });
        store.put(sample('a/x', { tags: ['red', 'big'], node: 'n1' }));
        store.put(sample('a/x', { tags: ['big', 'blue'], node: 'n2' }));
        expect(store.listIndexFuncValues('tag')).toEqual(['big', 'blue']);
        expect(store.indexKeys('node', 'n1')).toEqual([]);
        expect(store.indexKeys('node', 'n2')).toEqual(['a/x']);
        store.delete({ namespace: 'a', name: 'x' });
        expect(store.listIndexFuncValues('tag')).toEqual([]);
        expect(store.listIndexFuncValues('node')).toEqual([]);
      });

      it('name the objects that share a value with a given one, each once', () => {
        const store = create({ tag: byTag });
        store.put(sample('a/x', { tags: ['red', 'big'] }));
        store.put(sample('a/y', { tags: ['red', 'big'] }));
        store.put(sample('a/z', { tags: ['blue'] }));
        expect(store.index('tag', sample('q', { tags: ['red', 'big'] })).map((object) => object.metadata.name)).toEqual(
          ['x', 'y'],
        );
      });

      it('say which values an object has, stored or not, as the store would find them', () => {
        const store = create({
          tag: byTag,
          node: byNode,
          namespace: { header: ({ namespace }) => [namespace, namespace] },
        });
        const object = sample('a/x', { tags: ['red', 'red', 'big'], node: 'n1' });
        expect(store.indexValues('tag', object)).toEqual(['red', 'big']);
        expect(store.indexValues('node', object)).toEqual(['n1']);
        expect(store.indexValues('node', sample('a/y'))).toEqual([]);
        expect(store.indexValues('namespace', object)).toEqual(['a']);
        expect(store.size).toBe(0);
      });

      it('can be added to a filled store', () => {
        const store = create();
        store.put(sample('a/x', { node: 'n1' }));
        store.addIndexers({ node: byNode, tag: byTag });
        expect(store.indexKeys('node', 'n1')).toEqual(['a/x']);
        expect(store.indexNames).toEqual(['node', 'tag']);
      });

      it('conflict by name, and then none is added', () => {
        const store = create({ node: byNode });
        expect(() => store.addIndexers({ tag: byTag, node: byNode })).toThrow(
          expect.objectContaining({ code: 'KCTL_INDEX_CONFLICT' }) as Error,
        );
        expect(store.indexNames).toEqual(['node']);
      });

      it('are refused where unknown, except that their values are none', () => {
        const store = create();
        const unknown = expect.objectContaining({
          message: expect.stringContaining('Index with name node does not exist') as string,
        }) as Error;
        expect(() => store.byIndex('node', 'n')).toThrow(unknown);
        expect(() => store.indexKeys('node', 'n')).toThrow(unknown);
        expect(() => store.index('node', sample('x'))).toThrow(unknown);
        expect(() => store.indexValues('node', sample('x'))).toThrow(unknown);
        expect(store.listIndexFuncValues('node')).toEqual([]);
      });

      it('leave the store alone when their function throws', () => {
        const store = create({
          node: byNode,
          picky: (object) => {
            if (object.spec?.node === 'bad') throw new Error('no');
            return [];
          },
        });
        store.put(sample('a/x', { node: 'good' }));
        expect(() => store.put(sample('a/x', { node: 'bad' }))).toThrow(
          expect.objectContaining({ code: 'KCTL_INDEX_FUNCTION' }) as Error,
        );
        expect(store.indexKeys('node', 'good')).toEqual(['a/x']);
        expect(() => store.replace([sample('a/y', { node: 'bad' })], '9')).toThrow();
        expect(store.listKeys()).toEqual(['a/x']);
      });

      it('ask for the values of an object once per version', () => {
        let calls = 0;
        const store = create({
          counted: () => {
            calls++;
            return ['v'];
          },
        });
        store.put(sample('a/x', { version: '1' }));
        store.put(sample('a/x', { version: '2' }));
        store.delete({ namespace: 'a', name: 'x' });
        expect(calls).toBe(2);
      });
    });

    describe('version', () => {
      it('is that of the last write, replacement or bookmark', () => {
        const store = create();
        expect(store.resourceVersion).toBe('');
        store.put(sample('a/x', { version: '4' }));
        expect(store.resourceVersion).toBe('4');
        store.delete({ namespace: 'a', name: 'x' });
        expect(store.resourceVersion).toBe('4');
        store.bookmark('7');
        expect(store.resourceVersion).toBe('7');
        store.replace([], '5');
        expect(store.resourceVersion).toBe('5');
      });
    });

    describe('replacement in steps', () => {
      it('is seen by nobody until it is committed, and then says what was there', () => {
        const store = create({ node: byNode });
        store.put(sample('a/x', { node: 'n1' }));
        const kept = store.stored({ namespace: 'a', name: 'x' });
        if (kept === undefined) throw new Error('not stored');
        const replacement = store.beginReplace();
        replacement.put(kept);
        store.put(sample('a/y'));
        expect(replacement.size).toBe(1);
        store.addIndexers({ tag: byTag });
        const before = replacement.commit('9');
        expect(before.size).toBe(2);
        expect(before.stored({ namespace: 'a', name: 'y' })).toBeDefined();
        expect(store.listKeys()).toEqual(['a/x']);
        expect(store.indexNames).toEqual(['node', 'tag']);
        expect(store.indexKeys('node', 'n1')).toEqual(['a/x']);
      });

      it('fails when the store was replaced meanwhile', () => {
        const store = create();
        const replacement = store.beginReplace();
        store.replace([], '2');
        expect(() => replacement.commit('3')).toThrow('another replacement of the store was');
      });
    });
  });
}
