import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index/internal';
import { coalesce } from '@kctl/delivery';
import { describe, expect, it } from 'vitest';
import { Change } from './change.js';
import { allChanges, latestChanges } from './change-traits.js';

const version = (resourceVersion: number, uid = 'u1'): StoredObject<KubeObject> =>
  storeObject<KubeObject>({ metadata: { namespace: 'a', name: 'x', uid, resourceVersion: String(resourceVersion) } });
const [v1, v2, v3] = [version(1), version(2), version(3)];
const [w1, w2] = [version(4, 'u2'), version(5, 'u2')];
const add = (current: StoredObject<KubeObject>, isInInitialList = false): Change<KubeObject> =>
  new Change('add', current, undefined, { isInInitialList });
const update = (previous: StoredObject<KubeObject>, current: StoredObject<KubeObject>): Change<KubeObject> =>
  new Change('update', current, previous);
const resync = (current: StoredObject<KubeObject>): Change<KubeObject> =>
  new Change('update', current, current, { isResync: true });
const remove = (current: StoredObject<KubeObject>): Change<KubeObject> => new Change('delete', current, current);

/** What is delivered of changes that waited together. */
function merged(...changes: Change<KubeObject>[]): string[] {
  const waiting: Change<KubeObject>[] = [];
  for (const change of changes) coalesce(waiting, change, { keep: 1, traits: latestChanges<KubeObject>() });
  return waiting.map(({ type, header, oldHeader, isInInitialList, isResync }) =>
    [
      type === 'update'
        ? `update ${oldHeader?.resourceVersion}→${header.resourceVersion}`
        : `${type} ${header.resourceVersion}`,
      ...(isInInitialList ? ['initial'] : []),
      ...(isResync ? ['resync'] : []),
    ].join(' '),
  );
}

describe('changes of one object that wait together', () => {
  it.each([
    ['an add and its updates are one add of the newest', [add(v1), update(v1, v2), update(v2, v3)], ['add 3']],
    ['updates are one update from what was seen', [update(v1, v2), update(v2, v3)], ['update 1→3']],
    ['an update and a delete are the delete', [update(v1, v2), remove(v3)], ['delete 3']],
    ['an add and a delete are nothing', [add(v1), update(v1, v2), remove(v2)], []],
    ['a delete and an add are both', [remove(v2), add(w1)], ['delete 2', 'add 4']],
    ['a delete, an add and a delete are the first delete', [remove(v2), add(w1), remove(w1)], ['delete 2']],
    [
      'a resync adds nothing to a change',
      [update(v1, v2), new Change('update', v2, v2, { isResync: true })],
      ['update 1→2'],
    ],
    ['a change after a resync is the change', [resync(v1), update(v1, v2)], ['update 1→2']],
    ['two resyncs are one', [resync(v1), resync(v1)], ['update 1→1 resync']],
    ['an initial add stays one', [add(v1, true), update(v1, v2)], ['add 2 initial']],
    ['an initial add that went is nothing', [add(v1, true), remove(v1)], []],
    ['an object that went and came is another one', [remove(v1), add(w1), update(w1, w2)], ['delete 1', 'add 5']],
    ['two deletes are the newer one', [remove(v1), remove(v2)], ['delete 2']],
  ])('%s', (_name, changes, told) => {
    expect(merged(...changes)).toEqual(told);
  });
});

describe('changes that are all delivered', () => {
  it('have no identity, so that none merges', () => {
    expect(allChanges<KubeObject>().keyOf(add(v1))).toBeUndefined();
  });
});
