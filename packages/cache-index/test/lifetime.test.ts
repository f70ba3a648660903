import type { KubeObject } from '@kctl/apimachinery';
import { expectCost, expectCount, expectFlatHeap, expectReleased, structure } from '@kctl/lifetime';
import { expect, it } from 'vitest';
import { createIndexer } from '../src/index.js';
import { storeObject } from '../src/internal/index.js';
import type { Indexer } from '../src/index.js';

interface Sample extends KubeObject {
  spec: { node: string };
}

const sample = (name: string): Sample => ({ metadata: { namespace: 'a', name }, spec: { node: 'n' } });
const create = (): Indexer<Sample> =>
  createIndexer<Sample>({ indexers: { node: { path: 'spec.node', scoped: true } } });

const reads: readonly (readonly [string, (store: Indexer<Sample>) => readonly unknown[]])[] = [
  ['list', (store) => store.list()],
  ['list of a namespace', (store) => store.list({ namespace: 'a' })],
  ['byIndex', (store) => store.byIndex('node', 'n')],
  ['byIndex within a namespace', (store) => store.byIndex('node', 'n', { namespace: 'a' })],
];

structure(
  {
    package: '@kctl/cache-index',
    structure: 'Sorted view of an Indexer',
    operation: 'put, delete after a list',
    cost: 'O(1)',
    retains: 'the objects that are stored; of those that have gone since the last read at most as many empty places',
  },
  () => {
    it.each(reads)('keeps nothing of an object that has gone since the last read: %s', async (_name, read) => {
      await expectReleased(() => {
        const store = create();
        for (let index = 0; index < 10; index++) store.put(sample(`stays-${index}`));
        const present = store.put(sample('present'));
        expect(read(store)).toHaveLength(11);
        const passing = store.put(sample('passing'));
        store.delete({ namespace: 'a', name: 'present' });
        store.delete({ namespace: 'a', name: 'passing' });
        return { keep: store, released: { present, passing } };
      });
    });

    it('does not grow with what comes and goes between two reads', async () => {
      const store = create();
      store.put(sample('stays'));
      for (const [, read] of reads) read(store);
      await expectFlatHeap({
        churn: (round) => {
          for (let index = 0; index < 10_000; index++) {
            store.put(sample(`r${round}-${index}`));
            store.delete({ namespace: 'a', name: `r${round}-${index}` });
          }
        },
        allowedBytes: 600_000,
      });
      expect(store.list()).toHaveLength(1);
    });

    it('costs the same whatever the size of the store', () =>
      expectCost({
        order: 'O(1)',
        size: 2000,
        prepare: (size) => {
          const store = create();
          for (let index = 0; index < size; index++) store.put(sample(`x${index}`));
          for (const [, read] of reads) read(store);
          return store;
        },
        run: (store) => {
          for (let index = 0; index < 1000; index++) {
            store.put(sample(`passing-${index}`));
            store.delete({ namespace: 'a', name: `passing-${index}` });
          }
        },
      }));
  },
);

structure(
  {
    package: '@kctl/cache-index',
    structure: 'Sorted view of an Indexer',
    operation: 'list, byIndex',
    cost: 'O(n) in the result; O(n log n) for the first, and after most of its objects have gone',
    retains: 'an array of the result, until the next change and read',
  },
  () => {
    it('compares no more than the result takes, where a little has changed', () =>
      expectCount({
        order: 'O(n)',
        size: 200,
        count: (size) => {
          const store = create();
          let names = 0;
          const put = (name: string): void => {
            const stored = storeObject<Sample>(sample(name));
            store.putStored(
              Object.create(stored, {
                namespace: { value: 'a' },
                resourceVersion: { value: '' },
                object: { value: stored.object },
                fields: { value: () => ['n'] },
                name: { get: () => (names++, name) },
              }) as typeof stored,
            );
          };
          for (let index = 0; index < size; index++) put(`x${(index * 7919) % size}`);
          store.list();
          names = 0;
          for (let index = 0; index < 20; index++) {
            put(`passing-${index}`);
            store.delete({ namespace: 'a', name: `x${index}` });
            expect(store.list()).toHaveLength(size);
          }
          return names;
        },
      }));
  },
);
