import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it, vi } from 'vitest';
import type { ObjectEvent, Predicate } from '../src/index.js';
import {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  labelSelectorMatches,
  not,
  objectPredicate,
  or,
  predicateFuncs,
  projectionChanged,
  resourceVersionChanged,
} from '../src/index.js';
import { pod } from './fakes.js';

const create = (object: KubeObject): ObjectEvent => ({ type: 'create', object, isInInitialList: false });
const update = (before: Partial<KubeObject['metadata']>, after: Partial<KubeObject['metadata']>): ObjectEvent => ({
  type: 'update',
  oldObject: pod('a', before),
  object: pod('a', after),
});
const others: ObjectEvent[] = [
  create(pod('a')),
  { type: 'delete', object: pod('a'), deleteStateUnknown: false },
  { type: 'generic', object: pod('a') },
];

describe('predicates of changes', () => {
  it.each<[string, Predicate, ObjectEvent, ObjectEvent]>([
    [
      'resourceVersionChanged',
      resourceVersionChanged,
      update({ resourceVersion: '1' }, { resourceVersion: '2' }),
      update({ resourceVersion: '1', generation: 1 }, { resourceVersion: '1', generation: 2 }),
    ],
    [
      'generationChanged',
      generationChanged,
      update({ generation: 1 }, { generation: 2 }),
      update({ generation: 1, resourceVersion: '1' }, { generation: 1, resourceVersion: '2' }),
    ],
    [
      'annotationChanged',
      annotationChanged,
      update({}, { annotations: { a: '1' } }),
      update({ annotations: { a: '1', b: '2' } }, { annotations: { b: '2', a: '1' } }),
    ],
    [
      'labelChanged',
      labelChanged,
      update({ labels: { a: '1' } }, { labels: { a: '2' } }),
      update({ labels: {} }, { resourceVersion: '2' }),
    ],
    [
      'projectionChanged',
      projectionChanged(({ metadata }) => metadata.finalizers),
      update({}, { finalizers: ['x'] }),
      update({ finalizers: ['x'] }, { finalizers: ['x'], generation: 2 }),
    ],
  ])('%s filters updates alone', (_name, predicate, passing, dropped) => {
    expect([predicate(passing), predicate(dropped)]).toEqual([true, false]);
    expect(others.map(predicate)).toEqual([true, true, true]);
  });

  it('matches the labels of the new object', () => {
    const predicate = labelSelectorMatches({ matchLabels: { tier: 'web' } });
    expect(predicate(update({ labels: { tier: 'web' } }, { labels: {} }))).toBe(false);
    expect(predicate(update({ labels: {} }, { labels: { tier: 'web' } }))).toBe(true);
    expect(labelSelectorMatches('tier in (web)')(create(pod('a', { labels: { tier: 'web' } })))).toBe(true);
    expect(() => labelSelectorMatches('tier in (')).toThrow();
  });
});

describe('predicate combinators', () => {
  const yes: Predicate = () => true;
  const no: Predicate = () => false;

  it('lets pass what has no member', () => {
    const predicate = predicateFuncs({ update: () => false });
    expect(others.map(predicate)).toEqual([true, true, true]);
    expect(predicate(update({}, {}))).toBe(false);
  });

  it('tests the new object of an update', () => {
    const isSecond = objectPredicate(({ metadata }) => metadata.resourceVersion === '2');
    expect(isSecond(update({ resourceVersion: '1' }, { resourceVersion: '2' }))).toBe(true);
  });

  it('stops at the first that decides', () => {
    const asked = vi.fn(() => true);
    expect(and(no, asked)(update({}, {}))).toBe(false);
    expect(or(yes, asked)(update({}, {}))).toBe(true);
    expect(asked).not.toHaveBeenCalled();
    expect([and()(update({}, {})), or()(update({}, {})), not(yes)(update({}, {}))]).toEqual([true, false, false]);
  });
});
