import { expect, it } from 'vitest';
import { objectLabel } from './object-label.js';

it.each([
  ['', 'configmaps', 'configmaps demo/a'],
  ['example.com', 'configmaps', 'configmaps.example.com demo/a'],
  ['example.com', 'widgets', 'widgets demo/a'],
  ['events.k8s.io', 'events', 'events demo/a'],
])('names %s/%s so that no kind of another group is taken for it', (group, plural, label) => {
  expect(objectLabel({ group, plural }, 'demo/a')).toBe(label);
});
