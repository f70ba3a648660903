import type { KubeObject } from '@kctl/apimachinery';
import { storeObject } from '@kctl/cache-index/internal';
import { expect, it } from 'vitest';
import { Change } from '../handlers/change.js';
import { PendingEvents } from './pending-events.js';

const stored = (name: string, resourceVersion: number): ReturnType<typeof storeObject<KubeObject>> =>
  storeObject<KubeObject>({ metadata: { name, resourceVersion: String(resourceVersion) } }, { freeze: true });
const add = (name: string, at: number, isInInitialList = false): Change<KubeObject> =>
  new Change('add', stored(name, at), undefined, { isInInitialList });
const update = (name: string, from: number, to: number, isResync = false): Change<KubeObject> =>
  new Change('update', stored(name, to), stored(name, from), { isResync });
const remove = (name: string, at: number): Change<KubeObject> =>
  new Change('delete', stored(name, at), stored(name, at));

it.each<[string, readonly Change<KubeObject>[], readonly string[]]>([
  ['updates from the first state to the last', [update('x', 1, 2), update('x', 2, 3)], ['update x@1→3']],
  ['an update and a resync into the update', [update('x', 1, 2), update('x', 2, 2, true)], ['update x@1→2']],
  ['a resync and an update into an update', [update('x', 1, 1, true), update('x', 1, 2)], ['update x@1→2']],
  ['a resync alone as it is', [update('x', 1, 1, true)], ['update x@1→1 resync']],
  ['an add and a resync into the add', [add('x', 1, true), update('x', 1, 1, true)], ['add x@→1 initial']],
  ['an add and updates into an add', [add('x', 1, true), update('x', 1, 2)], ['add x@→2 initial']],
  ['an add and a deletion into nothing', [add('x', 1), remove('x', 2)], []],
  ['an update and a deletion into the deletion', [update('x', 1, 2), remove('x', 3)], ['delete x@3→3']],
  ['a deletion and an add as they are', [remove('x', 1), add('x', 2)], ['delete x@1→1', 'add x@→2']],
  [
    'objects in the order of their first events',
    [add('x', 1), add('y', 2), update('x', 1, 3)],
    ['add x@→3', 'add y@→2'],
  ],
])('merges %s', (_what, events, left) => {
  const pending = new PendingEvents<KubeObject>();
  for (const event of events) pending.put(event);
  const taken: string[] = [];
  for (let event = pending.take(); event !== undefined; event = pending.take()) {
    const { type, header, oldHeader, object, oldObject, isInInitialList, isResync, finalStateUnknown, leftScope } =
      event;
    expect([finalStateUnknown, leftScope]).toEqual([false, false]);
    expect([object.metadata, oldObject?.metadata.resourceVersion]).toEqual([
      { name: header.name, resourceVersion: header.resourceVersion },
      oldHeader?.resourceVersion,
    ]);
    const flags = `${isInInitialList ? ' initial' : ''}${isResync ? ' resync' : ''}`;
    taken.push(`${type} ${header.name}@${oldHeader?.resourceVersion ?? ''}→${header.resourceVersion}${flags}`);
  }
  expect(taken).toEqual(left);
});
