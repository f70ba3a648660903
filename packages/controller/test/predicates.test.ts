import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { describe, expect, it, vi } from 'vitest';
import type { ObjectEvent, Predicate } from '../src/index.js';
import {
  and,
  annotationChanged,
  enqueueRequestForObject,
  generationChanged,
  informerSource,
  kindSource,
  labelChanged,
  labelSelectorMatches,
  not,
  objectPredicate,
  or,
  predicateFuncs,
  projectionChanged,
  resourceVersionChanged,
} from '../src/index.js';
import { FakeInformer, pod, ReplicaSet } from './fakes.js';
import { createHarness } from './harness.js';

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

  it('compares a projection as JSON, also where that is a Date', () => {
    const at = projectionChanged(({ metadata }) => new Date(metadata.annotations?.['at'] ?? 0));
    const [first, second] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'].map((time) => ({
      annotations: { at: time },
    }));
    expect(at(update(first!, second!))).toBe(true);
    expect(at(update(first!, { ...first, generation: 2 }))).toBe(false);
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
    expect([...others, update({}, {})].map(predicateFuncs({}))).toEqual([true, true, true, true]);
  });

  it('takes a member that returns nothing for a refusal, as any predicate', () => {
    const predicate = predicateFuncs({ create: () => undefined as never, update: () => null as never });
    expect([create(pod('a')), update({}, {})].map((event) => and(predicate)(event))).toEqual([false, false]);
  });

  it('tests the new object of an update', () => {
    const isSecond = objectPredicate(({ metadata }) => metadata.resourceVersion === '2');
    expect(isSecond(update({ resourceVersion: '1' }, { resourceVersion: '2' }))).toBe(true);
  });

  it('calls the member of each event with it', () => {
    for (const event of [...others, update({}, {})]) {
      for (const answer of [true, false]) {
        const seen: ObjectEvent[] = [];
        const predicate = predicateFuncs({
          [event.type]: (given: ObjectEvent) => {
            seen.push(given);
            return answer;
          },
        });
        expect([predicate(event), seen]).toEqual([answer, [event]]);
      }
    }
  });

  it.each([and, or, (predicate: Predicate) => not(predicate)])(
    'fails for a promise, which is true always: %s',
    async (combine) => {
      const late = (): never => Promise.reject(new Error('late')) as never;
      expect(() => combine(late)(update({}, {}))).toThrow(
        'the predicate returned a promise: predicates are synchronous',
      );
      await Promise.resolve();
    },
  );

  it('refuses a projection and a filter that are not functions', () => {
    for (const given of [undefined, null, 'name']) {
      expect(() => projectionChanged(given as never)).toThrow('projectionChanged: project');
      expect(() => objectPredicate(given as never)).toThrow('objectPredicate: filter');
    }
  });

  it('stops at the first that decides', () => {
    const asked = vi.fn(() => true);
    expect(and(no, asked)(update({}, {}))).toBe(false);
    expect(or(yes, asked)(update({}, {}))).toBe(true);
    expect(asked).not.toHaveBeenCalled();
    expect([and()(update({}, {})), or()(update({}, {})), not(yes)(update({}, {}))]).toEqual([true, false, false]);
  });
});

describe('generationChanged on objects without a generation', () => {
  const warning =
    'generationChanged drops every update: objects of this kind have no metadata.generation; use resourceVersionChanged or projectionChanged';
  const ConfigMap = defineKind({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
  const Gadget = defineKind({ group: 'example.com', version: 'v1', kind: 'Gadget', scope: 'Namespaced' });
  const handler = enqueueRequestForObject();
  const warnings = (t: ReturnType<typeof createHarness>): unknown[] =>
    t.logger.lines.filter(({ message }) => message === warning).map(({ fields }) => fields['kind']);

  it.each<[string, () => Predicate]>([
    ['alone', () => generationChanged],
    ['in and()', () => and(labelChanged, generationChanged)],
    ['in or() with its like', () => or(generationChanged, and(generationChanged))],
  ])('%s is warned of once, at the start for kinds that are known to have none', async (_how, make) => {
    const predicate = make();
    const t = createHarness();
    t.informers.of(ConfigMap).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: ConfigMap, handler, predicates: [predicate] }));
    await t.start();
    expect(warnings(t)).toEqual(['ConfigMap']);
    t.informers.of(ConfigMap).add(pod('a'));
    expect(warnings(t)).toEqual(['ConfigMap']);
    t.stop.abort();
  });

  it('is warned of at the first object of any other kind, and not where objects have one', async () => {
    const t = createHarness();
    for (const kind of [ReplicaSet, Gadget]) {
      t.informers.of(kind).sync();
      t.controller.watch(kindSource({ informers: t.informers, kind, handler, predicates: [generationChanged] }));
    }
    const informer = new FakeInformer().sync();
    t.controller.watch(informerSource({ informer, handler, predicates: [generationChanged] }));
    await t.start();
    expect(warnings(t)).toEqual([]);
    t.informers.of(ReplicaSet).add(pod('a', { generation: 1 }), true);
    for (const name of ['a', 'b']) t.informers.of(Gadget).add(pod(name), true);
    informer.add(pod('a'));
    expect(warnings(t)).toEqual(['Gadget.example.com', undefined]);
    t.stop.abort();
  });

  it.each<[string, () => Predicate[]]>([
    ['a predicate that passes some updates', () => [or(generationChanged, labelChanged)]],
    ['its opposite', () => [not(generationChanged)]],
    ['none', () => []],
    ['an empty or()', () => [or()]],
  ])('is not warned of with %s', async (_what, make) => {
    const predicates = make();
    const t = createHarness();
    t.informers.of(ConfigMap).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: ConfigMap, handler, predicates }));
    await t.start();
    t.informers.of(ConfigMap).add(pod('a'));
    expect(warnings(t)).toEqual([]);
    t.stop.abort();
  });
});

it.each<[string, () => unknown, string]>([
  ['and', () => and(undefined as never), 'and: predicates[0] is not valid: expected a function, got undefined'],
  ['or', () => or({} as never), 'or: predicates[0] is not valid: expected a function'],
  ['not', () => not(undefined as never), 'not: predicate is not valid: expected a function, got undefined'],
  [
    'predicateFuncs',
    () => predicateFuncs({ created: () => false } as never),
    'unknown option "created": did you mean "create"?',
  ],
  [
    'predicateFuncs',
    () => predicateFuncs({ create: true } as never),
    'create is a value of type boolean: expected a function',
  ],
])('%s refuses what is no predicate, instead of each event', (_, create, message) => {
  expect(create).toThrow(message);
});
