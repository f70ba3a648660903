import type { KubeObject } from '@kctl/apimachinery';
import { expect, it } from 'vitest';
import { roundTripProblems } from './round-trip.js';

const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
const versions = ['example.com/v1', 'example.com/v2'];
const way = 'example.com/v1 → example.com/v2 → example.com/v1';

it.each<[string, unknown, string]>([
  ['no object', 5, 'the converter returned a value of type number: expected an object'],
  [
    'what JSON does not have',
    { ...widget, size: Number.NaN },
    'the converter returned what cannot be written as JSON: it holds NaN',
  ],
])('names a converter that returns %s', async (_what, returned, problem) => {
  expect(await roundTripProblems(() => returned as KubeObject, widget, versions)).toEqual([`${way}: ${problem}`]);
});
