import type { KubeObject } from '@kctl/apimachinery';
import { expect, it } from 'vitest';
import { extractApplied } from '../src/index.js';

/** An object of two owners: `mine` has applied some fields, `other` the rest. */
function shared(fieldsV1: object, more: object): KubeObject & { readonly metadata: { readonly name: string } } {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: {
      namespace: 'shop',
      name: 'web',
      managedFields: [
        { manager: 'other', operation: 'Apply', fieldsV1: { 'f:spec': {} } },
        { manager: 'mine', operation: 'Update', fieldsV1: { 'f:spec': {} } },
        { manager: 'mine', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': { 'f:phase': {} } } },
        { manager: 'mine', operation: 'Apply', fieldsV1 },
      ],
    },
    ...more,
  } as never;
}

const identity = { namespace: 'shop', name: 'web' };
const containers = [
  { name: 'app', image: 'app:2', ports: [{ containerPort: 80, protocol: 'TCP' }] },
  { name: 'app', image: 'app:3' },
  { name: 'proxy', image: 'proxy:1', args: ['-v'] },
  'not an item',
];

it.each<[string, object, object, object]>([
  [
    'items by their keys, with their own fields alone',
    { 'f:spec': { 'f:containers': { 'k:{"name":"proxy"}': { '.': {}, 'f:name': {}, 'f:args': {} } } } },
    { spec: { containers } },
    { spec: { containers: [{ name: 'proxy', args: ['-v'] }] } },
  ],
  [
    'items by all of their keys',
    { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"UDP"}': { '.': {} } } } },
    {
      spec: {
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 81, protocol: 'UDP' },
          { port: 80, protocol: 'UDP', x: 1 },
        ],
      },
    },
    { spec: { ports: [{ port: 80, protocol: 'UDP' }] } },
  ],
  ['the values of a set', { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"mine"': {} } } }, {}, {}],
  [
    'a whole list that has no keys',
    { 'f:spec': { 'f:args': {}, 'f:lacks': {} } },
    { spec: { args: ['a', 'b'], foreign: 1 } },
    { spec: { args: ['a', 'b'] } },
  ],
  [
    'a list by its positions, and an object, as a whole',
    { 'f:spec': { 'f:args': { 'i:0': {} }, 'f:limits': {}, 'f:lines': { '.': {} } } },
    { spec: { args: ['a', 'b'], limits: { cpu: '1' }, lines: ['foreign'] } },
    { spec: { args: ['a', 'b'], limits: { cpu: '1' }, lines: [] } },
  ],
  [
    'a value that has no members any more',
    { 'f:spec': { 'f:limits': { 'f:cpu': {} } } },
    { spec: { limits: null } },
    { spec: { limits: null } },
  ],
  [
    'an object that is there, without what it has',
    { 'f:spec': { 'f:limits': { '.': {} } } },
    { spec: { limits: { cpu: '1' } } },
    { spec: { limits: {} } },
  ],
])('extracts %s', (_what, fieldsV1, more, expected) => {
  const found = extractApplied(shared(fieldsV1, more), 'mine');
  expect(found).toMatchObject({ ...expected, metadata: identity });
  if ('spec' in expected) expect(found).toHaveProperty('spec', expected.spec);
});

it('extracts what was applied to a subresource, and nothing of a field owner that has applied nothing', () => {
  const object = shared({ 'f:spec': { 'f:size': {} } }, { spec: { size: 1 }, status: { phase: 'Ready', other: 1 } });
  expect(extractApplied(object, 'mine', { subresource: 'status' })).toEqual({
    status: { phase: 'Ready' },
    metadata: identity,
  });
  expect(extractApplied(object, 'mine')).toEqual({ spec: { size: 1 }, metadata: identity });
  expect(extractApplied(object, 'nobody')).toEqual({ metadata: identity });
});
