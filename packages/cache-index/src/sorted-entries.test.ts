import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { createIndexer } from './create-indexer.js';
import { storeObject } from './stored-object.js';

interface Sample extends KubeObject {
  spec: { node: string };
}
const sample = (name: string, node = 'n'): Sample => ({ metadata: { namespace: 'a', name }, spec: { node } });

describe('sorted views', () => {
  it('are right after an object left an index value and came back, or left for good', () => {
    const store = create();
    const names = (): unknown => store.byIndex('node', 'n').map((object) => object.metadata.name);
    for (const name of ['c', 'a', 'b']) store.put(sample(name));
    expect(names()).toEqual(['a', 'b', 'c']);
    store.put(sample('b', 'other'));
    store.put(sample('b'));
    expect(names()).toEqual(['a', 'b', 'c']);
    store.put(sample('b', 'other'));
    store.put(sample('b'));
    store.delete({ namespace: 'a', name: 'b' });
    store.put(sample('d'));
    expect(names()).toEqual(['a', 'c', 'd']);
  });

  it('leave out, and report, an object that cannot be read, whatever the list', () => {
    const unreadable: unknown[] = [];
    const store = createIndexer<Sample>({
      indexers: { all: { header: () => ['x'] } },
      onUnreadable: (error) => unreadable.push(error),
    });
    const broken = storeObject<Sample>(sample('b'));
    const error = new Error('broken');
    for (const name of ['a', 'c']) store.put(sample(name));
    store.putStored(
      Object.create(broken, {
        namespace: { value: 'a' },
        name: { value: 'b' },
        resourceVersion: { value: '' },
        labels: { value: {} },
        object: {
          get: () => {
            throw error;
          },
        },
      }) as typeof broken,
    );
    const selector = { matches: () => true };
    for (const list of [store.list(), store.list({ selector }), store.byIndex('all', 'x'), store.snapshot().list()])
      expect(list.map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(unreadable).toEqual([error, error, error, error]);
    expect(store.listKeys()).toEqual(['a/a', 'a/b', 'a/c']);
    expect(() => store.get({ namespace: 'a', name: 'b' })).toThrow(error);
    expect(() =>
      store.list({
        selector: {
          matches: () => {
            throw new Error('selector');
          },
        },
      }),
    ).toThrow('selector');
  });
});

describe('what an index function returns', () => {
  it.each([
    ['a text', 'abc', ['abc']],
    ['nothing', undefined, []],
    ['null', null, []],
    ['values', ['b', 'a', 'b'], ['a', 'b']],
  ])('%s', (_name, returned, values) => {
    for (const definition of [
      () => returned as string[],
      { object: () => returned as string[] },
      { header: () => returned as string[] },
    ]) {
      const store = createIndexer<Sample>({ indexers: { by: definition } });
      store.put(sample('a'));
      expect(store.listIndexFuncValues('by')).toEqual(values);
      expect(store.index('by', store.list()[0]!)).toHaveLength(values.length === 0 ? 0 : 1);
    }
  });

  it.each([5, {}, new Set(['a']), [1], ['a', undefined], Promise.resolve([])])(
    'that is neither is refused: %o',
    (returned) => {
      const store = createIndexer<Sample>({ indexers: { by: () => returned as string[] } });
      expect(() => store.put(sample('a'))).toThrow(
        expect.objectContaining({
          code: 'KCTL_INDEX_FUNCTION',
          cause: expect.objectContaining({ message: expect.stringContaining('expected') }) as Error,
        }) as Error,
      );
      expect(store.size).toBe(0);
    },
  );
});

function create() {
  return createIndexer<Sample>({ indexers: { node: { path: 'spec.node', scoped: true } } });
}
