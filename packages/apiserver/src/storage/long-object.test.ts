import { expect, test } from 'vitest';
import { LongBody, longContentOf, longObject } from './long-object.js';

const metadata = { name: 'a', labels: { l: '},"x":"' }, managedFields: [{ manager: 'm' }] };

test.each([
  ['with a resourceVersion', { ...metadata, resourceVersion: '7' }],
  ['without a resourceVersion', metadata],
  ['without anything', {}],
])('the metadata of a long object is read without the rest: %s', (_, given) => {
  const content = longContentOf({ kind: 'K', apiVersion: 'v1', metadata: given, data: { a: 'b' } });
  // The rest cannot be read.
  const broken = { ...content, ...(content.after === undefined ? {} : { after: content.after.replace('"b"', 'b') }) };
  const object = longObject(new LongBody(broken));
  expect(JSON.parse(JSON.stringify(object.metadata))).toEqual(given);
  expect(longObject(new LongBody(content))).toEqual({ kind: 'K', apiVersion: 'v1', metadata: given, data: { a: 'b' } });
});
