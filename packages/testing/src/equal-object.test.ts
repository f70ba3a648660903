import { expect, it } from 'vitest';
import { equalObject, objectDifferences } from './equal-object.js';

const metadata = { name: 'a', labels: { x: '1' } };
const pod = { metadata, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const served = { ...pod, metadata: { ...metadata, uid: 'u', resourceVersion: '5', managedFields: [] } };

it('names the fields that differ, and takes undefined for missing', () => {
  const other = { metadata, spec: { containers: [{ name: 'c', image: 'i:2' }, { name: 'd' }], nodeName: undefined } };
  expect(objectDifferences(other, pod)).toEqual([
    { path: 'spec.containers[0].image', actual: 'i:2', expected: 'i:1' },
    { path: 'spec.containers[1]', actual: { name: 'd' }, expected: undefined },
  ]);
  expect(objectDifferences({ a: undefined }, {})).toEqual([]);
  expect(objectDifferences({ a: [] }, { a: {} })).toEqual([{ path: 'a', actual: [], expected: {} }]);
  expect(objectDifferences(undefined, pod)).toEqual([{ path: '', actual: undefined, expected: pod }]);
});

it('leaves out paths, and what servers write, or compares some paths alone', () => {
  expect(objectDifferences(served, pod).map(({ path }) => path)).toEqual([
    'metadata.uid',
    'metadata.resourceVersion',
    'metadata.managedFields',
  ]);
  expect(objectDifferences(served, pod, { ignoreGeneratedMetadata: true })).toEqual([]);
  const changed = { ...served, spec: {}, metadata: { ...metadata, annotations: { 'a.b/c': '1', d: '2' } } };
  expect(objectDifferences(changed, pod, { ignorePaths: ['spec', 'metadata.annotations'] })).toEqual([]);
  const paths = objectDifferences(changed, pod, { ignorePaths: ['metadata.annotations["a.b/c"]', 'spec'] });
  expect(paths.map(({ path }) => path)).toEqual(['metadata.annotations.d']);
  expect(objectDifferences(changed, pod, { matchPaths: ['metadata.labels', 'metadata.name'] })).toEqual([]);
  const image = objectDifferences(changed, pod, { matchPaths: ['spec.containers[0].image'] });
  expect(image).toEqual([{ path: 'spec.containers[0].image', actual: undefined, expected: 'i:1' }]);
});

it('is a matcher of the test framework, which says what differs', () => {
  expect(served).toEqual(equalObject(pod, { ignoreGeneratedMetadata: true }));
  expect({ items: [served] }).toEqual({ items: [equalObject(pod, { ignorePaths: ['metadata'] })] });
  expect(served).not.toEqual(equalObject(pod));
  const matcher = equalObject(pod);
  expect(matcher.asymmetricMatch({ ...pod, spec: 5 })).toBe(false);
  expect(matcher.toAsymmetricMatcher()).toBe('spec: expected {"containers":[{"name":"c","image":"i:1"}]}, is 5');
  expect(() => equalObject(pod, { ignore: [] } as never)).toThrow('unknown option "ignore"');
});
