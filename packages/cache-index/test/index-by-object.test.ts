// `index`: the objects that share a value with one, as every other list of a store.
import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { createIndexer } from '../src/index.js';
import type { StoredObject } from '../src/index.js';

const item = (namespace: string, name: string, ...tags: string[]): KubeObject => ({
  metadata: { namespace, name, labels: Object.fromEntries(tags.map((tag) => [tag, 'yes'])) },
});
const byTag = { tag: { header: ({ labels }: { readonly labels: object }): string[] => Object.keys(labels) } };
const names = (objects: readonly { readonly metadata: { readonly name?: string } }[]): unknown[] =>
  objects.map(({ metadata }) => metadata.name);

/** One that turns out not to be an object when it is read. */
const broken: StoredObject<KubeObject> = {
  namespace: 'a',
  name: 'broken',
  uid: '',
  resourceVersion: '1',
  generation: undefined,
  deletionTimestamp: undefined,
  labels: { x: 'yes' },
  ownerReferences: [],
  isParsed: false,
  fields: () => [],
  get object(): never {
    throw new Error('not an object');
  },
};

describe('index', () => {
  it('is in the order of namespace and name, each object once, whatever the order of the values', () => {
    const store = createIndexer<KubeObject>({ indexers: byTag });
    for (const object of [item('b', 'm', 'x', 'y'), item('a', 'z', 'y'), item('a', 'c', 'x'), item('c', 'a', 'y', 'x')])
      store.put(object);
    expect(names(store.index('tag', item('a', 'new', 'y', 'x')))).toEqual(['c', 'z', 'm', 'a']);
    expect(names(store.index('tag', item('a', 'new', 'x')))).toEqual(['c', 'm', 'a']);
    expect(store.index('tag', item('a', 'new'))).toEqual([]);
  });

  it('leaves out what cannot be read, where that is taken', () => {
    const errors: unknown[] = [];
    const store = createIndexer<KubeObject>({ indexers: byTag, onUnreadable: (error) => void errors.push(error) });
    store.put(item('a', 'c', 'x'));
    store.putStored(broken);
    expect(names(store.index('tag', item('a', 'new', 'x')))).toEqual(['c']);
    expect(names(store.byIndex('tag', 'x'))).toEqual(['c']);
    expect(errors).toHaveLength(2);
    const strict = createIndexer<KubeObject>({ indexers: byTag });
    strict.putStored(broken);
    expect(() => strict.index('tag', item('a', 'new', 'x'))).toThrow('not an object');
  });
});
