import { defineKind } from '@kctl/apimachinery';
import type { KubeObject, Status } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { isSuperseded } from './own-write.js';
import { mayHaveHappened, outcomeOfDelete, outcomeOfWrite } from './write-outcome.js';

const Thing = defineKind({ group: '', version: 'v1', kind: 'Thing', scope: 'Cluster' });
const known = { uid: 'u', observedVersion: '5' };
const after = (result: KubeObject | Status): string => {
  const { outcome, observedVersion, version, uid } = outcomeOfDelete(Thing, { key: { name: 'a' }, result, known });
  return [outcome.type, version, observedVersion, uid].join(' ');
};
const object = (metadata: object, more: object = {}): KubeObject => ({
  metadata: { name: 'a', uid: 'u', resourceVersion: '9', ...metadata },
  ...more,
});

describe('outcomeOfDelete', () => {
  it.each<[string, KubeObject | Status, string]>([
    [
      'a Status with the uid that is known',
      { kind: 'Status', status: 'Success', details: { uid: 'u' } },
      'absent  5 u',
    ],
    ['a Status with another uid', { kind: 'Status', status: 'Success', details: { uid: 'other' } }, 'unread   '],
    ['a Status without a uid', { kind: 'Status', status: 'Success' }, 'absent  5 u'],
    ['the object that was deleted', object({}), 'absent  9 u'],
    ['an object held by a finalizer', object({ deletionTimestamp: 't', finalizers: ['x'] }), 'present 9  u'],
    [
      'a namespace held by its spec',
      object({ deletionTimestamp: 't' }, { spec: { finalizers: ['kubernetes'] } }),
      'present 9  u',
    ],
    ['a pod with a grace period', object({ deletionTimestamp: 't', deletionGracePeriodSeconds: 30 }), 'present 9  u'],
    ['a pod without one', object({ deletionTimestamp: 't', deletionGracePeriodSeconds: 0 }), 'absent  9 u'],
    ['an object of which nobody can tell', object({ deletionTimestamp: 't' }), 'unread   '],
  ])('understands %s', (_what, result, expected) => {
    expect(after(result)).toBe(expected);
  });
});

describe('deletionTimestamp: null', () => {
  const alive = object({ deletionTimestamp: null, deletionGracePeriodSeconds: null });

  it('is that of an object that is not being deleted, in the answer to a write and to a delete', () => {
    expect(outcomeOfWrite(Thing, alive)).toMatchObject({ outcome: { type: 'present' }, version: '9' });
    expect(after(alive)).toBe('absent  9 u');
  });

  it('does not count as a deletion that the cache has seen', () => {
    const write = {
      key: { name: 'a' },
      outcome: { type: 'unread' },
      version: '',
      observedVersion: '5',
      uid: 'u',
    } as const;
    const observed = (cached: KubeObject) => ({ storeVersion: '9', cached });
    expect(isSuperseded({ ...write, recordedAt: 0 }, observed(alive))).toBe(false);
    expect(isSuperseded({ ...write, recordedAt: 0 }, observed(object({ deletionTimestamp: 't' })))).toBe(true);
  });
});

describe('mayHaveHappened', () => {
  it.each([
    [new TypeError('bad input'), false],
    [Object.assign(new Error('refused'), { maybeSent: false }), false],
    [Object.assign(new Error('reset'), { maybeSent: true }), true],
    [new DOMException('aborted', 'AbortError'), true],
    ['a thrown text', true],
  ])('%s: %s', (error, expected) => {
    expect(mayHaveHappened(error)).toBe(expected);
  });
});
