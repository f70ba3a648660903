import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index/internal';
import { expect, it } from 'vitest';
import { Change } from './change.js';
import { initialAdd, StoreSeries } from './store-series.js';

const stored = (namespace: string, resourceVersion = 1): StoredObject<KubeObject> =>
  storeObject<KubeObject>(
    { metadata: { name: 'x', namespace, resourceVersion: `${resourceVersion}` } },
    { freeze: true },
  );
const update = (namespace: string, from: number): Change<KubeObject> =>
  new Change('update', stored(namespace, from + 1), stored(namespace, from));

/** What is delivered, as `namespace@version`, of objects of one name, with a change before each step. */
function deliver(namespaces: readonly string[], changes: readonly (Change<KubeObject> | undefined)[]): string[] {
  const content = namespaces.map((namespace) => stored(namespace));
  const series = new StoreSeries<KubeObject>({ size: content.length, values: () => content }, initialAdd);
  const delivered: string[] = [];
  for (const change of [...changes, ...Array.from({ length: 10 }, () => undefined)]) {
    if (change !== undefined) series.note(change);
    const next = series.next();
    if (next === undefined) continue;
    expect([next.type, next.isInInitialList, next.previous]).toEqual(['add', true, undefined]);
    delivered.push(`${next.current.namespace}@${next.current.resourceVersion}`);
  }
  expect(series.left).toBe(0);
  return delivered;
}

it.each<[string, readonly (Change<KubeObject> | undefined)[]]>([
  ['without changes', []],
  ['that change after their turn', [undefined, update('a', 1), update('b', 1), update('c', 1), update('d', 1)]],
  ['that change twice before their turn', [update('d', 1), update('d', 2), update('c', 1), update('a', 1)]],
  ['that are deleted before their turn', [new Change('delete', stored('d', 2), stored('d'))]],
])('delivers objects of one name once, as they were: %s', (_what, changes) => {
  expect(deliver(['a', 'b', 'c', 'd'], changes)).toEqual(['a@1', 'b@1', 'c@1', 'd@1']);
});

it('does not deliver what was added since, also if it changes or goes again', () => {
  const add = new Change('add', stored('z', 5), undefined);
  for (const next of [undefined, update('z', 5), new Change('delete', stored('z', 6), stored('z', 5))])
    expect(deliver(['a', 'b'], [add, next])).toEqual(['a@1', 'b@1']);
});
