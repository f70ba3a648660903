import { applyMergePatch, isSameJson } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differences, knownEqualities } from './apply-match.js';
import type { FieldSet } from './managed-fields.js';

type Json = Record<string, unknown>;

const names = ['a', 'b', 'c', 'd'];
const scalar = fc.constantFrom<unknown>(1, 2, 'x', 'y', true, false, '');
const keyedList = fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), value: scalar }), {
  selector: ({ name }) => name,
  minLength: 1,
});
const { object } = fc.letrec<{ value: unknown; object: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, keyedList, fc.array(scalar, { maxLength: 2 }), tie('object')),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3 }),
}));

const isKeyed = (value: unknown): value is Json[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'object');

/** What a server notes as applied: members one by one, keyed lists by key, other lists and empty objects whole. */
function fieldsOf(value: unknown): FieldSet {
  if (isKeyed(value))
    return Object.fromEntries(
      value.map((item) => [`k:${JSON.stringify({ name: item['name'] })}`, { '.': {}, ...fieldsOf(item) }]),
    );
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [`f:${name}`, fieldsOf(member)]));
}

/** What others add: members beside ours, items beside ours, in front of them. */
function withOthers(value: unknown): unknown {
  if (isKeyed(value)) return [{ name: 'other', value: 0 }, ...value.map(withOthers)];
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withOthers(member)])),
    other: 'theirs',
  };
}

const isEqual = knownEqualities(Deployment);
const found = (fields: FieldSet, desired: Json, actual: unknown): number =>
  differences(fields, desired, actual, isEqual).length;

describe('differences', () => {
  it('are none while the object has what was applied, whatever others have added', () => {
    fc.assert(
      fc.property(object, (applied) => {
        expect(found(fieldsOf(applied), applied, withOthers(applied))).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('are there when a list is desired where an object was applied', () => {
    const applied = { b: { a: [{ name: 'a', value: 1 }] } };
    expect(found(fieldsOf(applied), { b: [] }, applied)).toBeGreaterThan(0);
  });

  it('are there whenever another configuration is desired than was applied', () => {
    fc.assert(
      fc.property(object, object, (applied, desired) => {
        fc.pre(!isSameJson(applied, desired));
        // The order of a keyed list does not count.
        fc.pre(!isSameJson(sorted(applied), sorted(desired)));
        expect(found(fieldsOf(applied), desired, withOthers(applied))).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('are there when somebody has changed or removed what was applied', () => {
    fc.assert(
      fc.property(
        object,
        fc.constantFrom(...names),
        fc.constantFrom<unknown>('changed', null),
        (applied, name, value) => {
          fc.pre(name in applied);
          const actual = applyMergePatch(withOthers(applied), { [name]: value });
          expect(found(fieldsOf(applied), applied, actual)).toBeGreaterThan(0);
        },
      ),
    );
  });
});

it('compares items by their keys, whatever else is in the list, and the values of a set', () => {
  const [a, b] = [{ name: 'a' }, { name: 'b' }];
  const item = { '.': {}, 'f:name': {} };
  const items = { 'f:items': { 'k:{"name":"a"}': item, 'k:{"name":"b"}': item } };
  const paths = (fields: FieldSet, desired: Json, actual: Json): unknown[] =>
    differences(fields, desired, actual, isEqual).map(({ path, reason }) => [path, reason]);
  expect(paths(items, { items: [b] }, { items: [a, b] })).toEqual([['items[name=a]', 'noLongerDesired']]);
  expect(paths(items, { items: ['odd', a, b] }, { items: [a, b] })).toEqual([['items[]', 'notOwned']]);
  expect(paths({ 'f:set': { 'v:"x"': {} } }, { set: ['x'] }, { set: [] })).toEqual([['set', 'notOwned']]);
});

it('compares a list that is held as a whole item by item', () => {
  const [desired, actual] = [{ list: [1, { a: 2 }] }, { list: [1, { a: 3 }] }];
  expect(found({ 'f:list': {} }, desired, actual)).toBe(1);
});

it('finds an item that lost its key missing, and a null as absent', () => {
  const fields = { 'f:items': { 'k:{"name":"a"}': { 'f:name': {} } }, 'f:whole': {} };
  const desired = { items: [{ name: 'a' }], whole: { none: null } };
  expect(differences(fields, desired, { items: [{}], whole: {} }, isEqual)).toMatchObject([
    { path: 'items[name=a]', reason: 'missing' },
  ]);
});

it.each<[Kind, string, unknown, unknown, boolean]>([
  [StatefulSet, 'spec.volumeClaimTemplates[0].status', undefined, { phase: 'Pending' }, true],
  [Deployment, 'spec.volumeClaimTemplates[0].status', undefined, { phase: 'Pending' }, false],
  [StatefulSet, 'spec.serviceName', undefined, 'web', false],
  [Deployment, 'spec.containers[name=a].resources.limits.cpu', '1000m', '1', true],
  [Deployment, 'spec.metrics[0].resource.target.averageValue', '1000m', '1', true],
  [Deployment, 'spec.containers[name=a].resources.limits.cpu', '1000m', '2', false],
  [Deployment, 'spec.containers[name=a].resources.limits.cpu', 'x', '1', false],
  [Deployment, 'spec.containers[name=a].resources.limits.cpu', '1', 'x', false],
  [Deployment, 'metadata.annotations.cpu', '1000m', '1', false],
  [Deployment, 'spec.containers[name=a].env[name=b].value', '', undefined, true],
  [Deployment, 'spec.containers[name=a].env[name=b].value', 'x', undefined, false],
  [Deployment, 'metadata.annotations.cpu', '', undefined, false],
])('of %o, at %s, a server writes for %j the value %j: %s', (kind, ...[path, desired, actual, expected]) => {
  expect(knownEqualities(kind)(path, desired, actual)).toBe(expected);
});

function sorted(value: unknown): unknown {
  if (isKeyed(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sorted(member)]));
}
