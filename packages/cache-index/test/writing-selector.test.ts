// A selector is anybody's code: it may write to the store that it reads.
import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { createIndexer, createLister } from '../src/index.js';

const make = (name: string, version = 1): KubeObject => ({
  metadata: { namespace: 'ns', name, uid: `u-${name}`, resourceVersion: String(version), labels: { app: 'a' } },
});
const names = (objects: readonly DeepReadonly<KubeObject>[]): string[] =>
  objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);

describe.each([true, false])('a selector that writes to its store (unreadable objects are left out: %s)', (reports) => {
  const writes: readonly (readonly [string, (store: ReturnType<typeof createIndexer>) => unknown])[] = [
    ['deletes', (store) => store.delete({ namespace: 'ns', name: 'c' })],
    [
      'deletes and puts again',
      (store) => {
        store.delete({ namespace: 'ns', name: 'c' });
        store.put(make('c', 9));
      },
    ],
    ['updates', (store) => store.put(make('c', 9))],
    ['adds', (store) => store.put(make('bb', 9))],
    ['replaces everything', (store) => store.replace([], '9')],
    ['deletes everything', (store) => ['a', 'b', 'c'].forEach((name) => store.delete({ namespace: 'ns', name }))],
  ];
  it.each(writes)('lists what was there when the list began: %s', (_what, write) => {
    const read: readonly ((store: ReturnType<typeof createIndexer>, selector: { matches(): boolean }) => string[])[] = [
      (store, selector) => names(store.list({ selector })),
      (store, selector) => names(store.list({ namespace: 'ns', selector })),
      (store, selector) => names(store.byIndex('app', 'a', { selector })),
      (store, selector) => store.listKeys({ selector }).map((key) => `${key.slice(3)}@1`),
      (store, selector) =>
        store.listStored({ selector }).map(({ name, resourceVersion }) => `${name}@${resourceVersion}`),
      (store, selector) => names(createLister(store).list(selector)),
      (store, selector) => names(store.snapshot().list({ selector })),
    ];
    for (const list of read) {
      const unreadable: unknown[] = [];
      const store = createIndexer({
        indexers: { app: { path: 'metadata.labels.app' } },
        ...(reports ? { onUnreadable: (error: unknown) => void unreadable.push(error) } : {}),
      });
      store.replace([make('a'), make('b'), make('c')], '1');
      let isFirst = true;
      const matches = (): boolean => {
        if (isFirst) write(store);
        isFirst = false;
        return true;
      };
      expect(list(store, { matches })).toEqual(['a@1', 'b@1', 'c@1']);
      expect(unreadable).toEqual([]);
    }
  });
});
