import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import { storeObject } from '@kctl/cache-index';
import { describe, expect, it } from 'vitest';
import { Change } from './change.js';
import { CoalescedChanges, QueuedChanges } from './pending-changes.js';

const version = (resourceVersion: number, uid = 'u1'): StoredObject<KubeObject> =>
  storeObject<KubeObject>({ metadata: { namespace: 'a', name: 'x', uid, resourceVersion: String(resourceVersion) } });
const [v1, v2, v3] = [version(1), version(2), version(3)];
const w1 = version(4, 'u2');
const add = (current: StoredObject<KubeObject>, isInInitialList = false): Change<KubeObject> =>
  new Change('add', current, undefined, { isInInitialList });
const update = (previous: StoredObject<KubeObject>, current: StoredObject<KubeObject>): Change<KubeObject> =>
  new Change('update', current, previous);
const remove = (current: StoredObject<KubeObject>): Change<KubeObject> => new Change('delete', current, current);

/** What is delivered of changes that waited together. */
function merged(...changes: Change<KubeObject>[]): string[] {
  const pending = new CoalescedChanges<KubeObject>();
  for (const change of changes) pending.add(change);
  const told: string[] = [];
  for (let batch = pending.take(); batch !== undefined; batch = pending.take())
    for (const { type, header, oldHeader } of batch.changes)
      told.push(
        type === 'update'
          ? `update ${oldHeader?.resourceVersion}→${header.resourceVersion}`
          : `${type} ${header.resourceVersion}`,
      );
  return told;
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
  ])('%s', (_name, changes, told) => {
    expect(merged(...changes)).toEqual(told);
  });

  it('count each initial add that they settle, also of an object that came, went and came again', () => {
    const pending = new CoalescedChanges<KubeObject>();
    const changes = [remove(v1), add(w1, true), remove(w1), add(w1, true)];
    for (const change of changes) pending.add(change);
    expect(pending.take()).toMatchObject({ initial: 2 });
    expect(pending.take()).toBeUndefined();
  });

  it('count the initial adds that they settle, also of objects that are gone', () => {
    const pending = new CoalescedChanges<KubeObject>();
    pending.add(add(v1, true));
    pending.add(update(v1, v2));
    const batch = pending.take();
    expect(batch).toMatchObject({ initial: 1 });
    expect(batch?.changes[0]?.isInInitialList).toBe(true);
    pending.add(add(v1, true));
    pending.add(remove(v1));
    expect(pending.size).toBe(0);
    expect(pending.take()).toEqual({ changes: [], initial: 1 });
    expect(pending.take()).toBeUndefined();
  });
});

describe('QueuedChanges', () => {
  it('keeps every change in order', () => {
    const pending = new QueuedChanges<KubeObject>();
    const changes = [add(v1, true), update(v1, v2), remove(v2), add(w1)];
    for (const change of changes) pending.add(change);
    expect(pending.size).toBe(4);
    const taken = [];
    for (let batch = pending.take(); batch !== undefined; batch = pending.take()) taken.push(...batch.changes);
    expect(taken).toEqual(changes);
  });
});
