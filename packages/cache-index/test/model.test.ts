import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KubeObject } from '@kctl/apimachinery';
import { createIndexer, createLister, labelIndex, mutableCopy, namespaceIndex, ownerIndex } from '../src/index.js';
import { deepFreeze, shareFreeze, storeObject } from '../src/internal/index.js';

interface Sample extends KubeObject {
  spec: { node: string; tags: string[] };
}

const key = fc.record({ namespace: fc.constantFrom('a', 'b', 'c'), name: fc.constantFrom('x', 'y', 'z', 'w') });
const write = fc.record({
  type: fc.constantFrom('put', 'put', 'delete', 'replace', 'read'),
  key,
  node: fc.constantFrom('n1', 'n2', 'n3'),
  tags: fc.array(fc.constantFrom('s', 't', 'u'), { maxLength: 3 }),
});

it('agrees with a plain map and a full scan after any writes', () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 60 }), fc.boolean(), (writes, scoped) => {
      const store = createIndexer<Sample>({
        indexers: {
          namespace: namespaceIndex,
          node: { path: 'spec.node', scoped },
          tag: { object: (object) => object.spec.tags, scoped },
        },
      });
      const model = new Map<string, Sample>();
      for (const [at, write] of writes.entries()) {
        const { type, node, tags } = write;
        const { namespace, name } = write.key;
        const object: Sample = { metadata: { namespace, name }, spec: { node, tags } };
        if (type === 'put') {
          store.put(object);
          model.set(`${namespace}/${name}`, object);
        } else if (type === 'delete') {
          store.delete({ namespace, name });
          model.delete(`${namespace}/${name}`);
        } else if (type === 'replace') {
          const kept = [...model].filter(([, { spec }]) => spec.node !== node);
          model.clear();
          for (const [place, value] of kept) model.set(place, value);
          store.replace(
            kept.map(([, value]) => value),
            '1',
          );
        }
        // Between two reads, an object comes, goes, and changes its values as often as it likes.
        if (type !== 'read' && at < writes.length - 1) continue;
        const sorted = [...model.keys()].sort();
        expect(store.listKeys()).toEqual(sorted);
        for (const value of ['n1', 'n2', 'n3']) {
          const wanted = sorted.filter((place) => model.get(place)?.spec.node === value);
          expect(store.indexKeys('node', value)).toEqual(wanted);
          expect(store.byIndex('node', value, { namespace: 'b' }).map((found) => found.metadata.name)).toEqual(
            wanted.filter((place) => place.startsWith('b/')).map((place) => place.slice(2)),
          );
        }
        for (const value of ['s', 't', 'u'])
          expect(store.indexKeys('tag', value)).toEqual(
            sorted.filter((place) => model.get(place)?.spec.tags.includes(value)),
          );
        for (const index of ['node', 'tag', 'namespace'])
          for (const object of store.list())
            expect([...store.indexValues(index, object)].sort()).toEqual(
              store
                .listIndexFuncValues(index)
                .filter((value) =>
                  store.indexKeys(index, value).includes(`${object.metadata.namespace}/${object.metadata.name}`),
                ),
            );
        expect(store.listIndexFuncValues('namespace')).toEqual([...new Set(sorted.map((place) => place.charAt(0)))]);
      }
    }),
  );
});

it('shareFreeze returns an equal value that is frozen and shares every equal part', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      const previous = deepFreeze(structuredClone(before));
      expect(shareFreeze(structuredClone(before), previous)).toBe(previous);
      const shared = shareFreeze<unknown>(structuredClone(after), previous);
      expect(shared).toEqual(after);
      // What is frozen already, or in parts, comes from another store: the result is the same.
      expect(shareFreeze(deepFreeze(structuredClone(before)), previous)).toBe(previous);
      expect(shareFreeze<unknown>(deepFreeze(structuredClone(after)), previous)).toEqual(shared);
      const inParts = { part: deepFreeze(structuredClone(before)), other: after };
      const held = deepFreeze({ part: structuredClone(before), other: null });
      const sharedParts = shareFreeze<{ part: unknown; other: unknown }>(inParts, held);
      expect(sharedParts).toEqual({ part: before, other: after });
      expect(sharedParts.part).toBe(held.part);
      const isFrozen = (value: unknown): boolean =>
        typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
      expect(isFrozen(shared)).toBe(true);
      const copy = mutableCopy<unknown>(shared);
      expect(copy).toEqual(after);
      if (typeof copy === 'object' && copy !== null) expect(Object.isFrozen(copy)).toBe(false);
    }),
  );
});

it('puts an object that is frozen already, or in parts, as one that another store has', () => {
  const store = createIndexer<Sample>();
  const sample = (node: string): Sample => ({
    metadata: { name: 'a', namespace: 'n' },
    spec: { node, tags: ['s', 't'] },
  });
  const first = store.put(deepFreeze(sample('n1')));
  const second = store.put(deepFreeze(sample('n2')));
  expect(second).toEqual(sample('n2'));
  expect(second.spec.tags).toBe(first.spec.tags);
  const { metadata, spec } = deepFreeze(sample('n3'));
  expect(store.put({ metadata, spec: { ...spec } })).toEqual(sample('n3'));
});

it('shareFreeze takes nothing for a part that an object only inherits, and tells undefined from absent', () => {
  const share = (before: string, after: string): unknown =>
    shareFreeze<unknown>(JSON.parse(after), deepFreeze(JSON.parse(before) as unknown));
  const own = share('{"a":1}', '{"a":1,"__proto__":{},"constructor":{},"toString":"x"}') as object;
  expect(Object.keys(own)).toEqual(['a', '__proto__', 'constructor', 'toString']);
  expect(Object.getOwnPropertyDescriptor(own, '__proto__')?.value).not.toBe(Object.prototype);
  expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
  const gone = share('{"__proto__":{"b":1}}', '{}') as object;
  expect(Object.keys(gone)).toEqual([]);
  const before = deepFreeze<object>({ a: undefined });
  expect(Object.keys(shareFreeze<object>({ b: undefined }, before))).toEqual(['b']);
  expect(shareFreeze<object>([[]], deepFreeze<object>([{}]))).toEqual([[]]);
});

it('keeps what each index finds, where a write says that the fields are those of the version before', () => {
  const key = fc.record({ namespace: fc.constantFrom('a', 'b'), name: fc.constantFrom('x', 'y') });
  const step = fc.record({ key, label: fc.constantFrom('r', 's'), node: fc.constantFrom('n1', 'n2') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.boolean(), (steps, hasLabels) => {
      const store = createIndexer<Sample>({
        indexers: {
          namespace: namespaceIndex,
          node: { path: 'spec.node' },
          ...(hasLabels ? { label: labelIndex('app') } : {}),
        },
      });
      const plain = createIndexer<Sample>({ indexers: { node: (object) => [object.spec.node] } });
      for (const { key: at, label, node } of steps) {
        const present = store.get(at);
        const object: Sample = {
          metadata: { ...at, labels: { app: label } },
          spec: { node: present?.spec.node ?? node, tags: [] },
        };
        store.putStored(
          storeObject<Sample>(structuredClone(object)),
          present === undefined ? {} : { hasPresentFields: true },
        );
        plain.put(object);
      }
      for (const node of ['n1', 'n2']) expect(store.indexKeys('node', node)).toEqual(plain.indexKeys('node', node));
      for (const namespace of ['a', 'b'])
        expect(store.indexKeys('namespace', namespace)).toEqual(plain.listKeys({ namespace }));
      if (!hasLabels) return;
      for (const label of ['r', 's'])
        expect(store.indexKeys('label', label)).toEqual(
          plain
            .list()
            .filter(({ metadata }) => metadata.labels?.['app'] === label)
            .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`),
        );
    }),
  );
});

it('moves an object to other values of a function or a label, where no index has a path', () => {
  const store = createIndexer<Sample>({
    indexers: { namespace: namespaceIndex, app: labelIndex('app'), node: (object) => [object.spec.node] },
  });
  for (const value of ['one', 'two'])
    store.put({ metadata: { namespace: 'a', name: 'x', labels: { app: value } }, spec: { node: value, tags: [] } });
  expect(store.indexKeys('namespace', 'a')).toEqual(['a/x']);
  for (const index of ['app', 'node']) {
    expect(store.indexKeys(index, 'two')).toEqual(['a/x']);
    expect(store.listIndexFuncValues(index)).toEqual(['two']);
  }
});

it('reports a failing index function and stores the object without its values, where asked to', () => {
  const errors: string[] = [];
  const store = createIndexer<Sample>({
    indexers: {
      bad: () => {
        throw new Error('no');
      },
    },
    onIndexError: (error) => errors.push(error.message),
  });
  store.put({ metadata: { name: 'x' }, spec: { node: '', tags: [] } });
  expect(store.size).toBe(1);
  expect(errors).toEqual(['the function of index bad failed for x']);
});

it('indexes by owner and by label, and lists through a lister', () => {
  const store = createIndexer<KubeObject>({ indexers: { owner: ownerIndex, app: labelIndex('app') } });
  store.put({
    metadata: {
      namespace: 'a',
      name: 'x',
      labels: { app: 'web' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'o', uid: 'u1' }],
    },
  });
  store.put({ metadata: { namespace: 'a', name: 'y' } });
  expect(store.indexKeys('owner', 'u1')).toEqual(['a/x']);
  expect(store.listIndexFuncValues('app')).toEqual(['web']);
  const lister = createLister(store);
  expect(lister.namespace('a').get('y')?.metadata.name).toBe('y');
  expect(lister.list({ matches: (labels) => labels?.['app'] === 'web' })).toHaveLength(1);
  expect(lister.get('y')).toBeUndefined();
  // As in client-go, and in lists of a client: '' is all namespaces.
  expect(lister.namespace('').list()).toEqual(lister.list());
});

it('hands out mutable objects when told not to freeze', () => {
  const store = createIndexer<KubeObject>({ freeze: false });
  const object = { metadata: { name: 'x' } };
  expect(store.put(object)).toBe(object);
  expect(Object.isFrozen(object)).toBe(false);
});

it('knows no values of an object that an index function fails for, where it takes such errors', () => {
  const fail = (): string[] => {
    throw new Error('broken');
  };
  const object: Sample = { metadata: { namespace: 'a', name: 'x' }, spec: { node: 'n1', tags: [] } };
  const errors: unknown[] = [];
  const taking = createIndexer<Sample>({ indexers: { fail }, onIndexError: (error) => void errors.push(error) });
  expect(taking.indexValues('fail', object)).toEqual([]);
  expect(errors).toEqual([]);
  expect(() => createIndexer<Sample>({ indexers: { fail } }).indexValues('fail', object)).toThrow(
    'the function of index fail failed for a/x',
  );
});
