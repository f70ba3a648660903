// Models of other clients have Dates. One that is not valid would be sent as null, which deletes a field in a patch.
import { ConfigMap, Pod } from '@kctl/apimachinery/kinds/core/v1';
import { applyPatch, jsonPatch, mergePatch, strategicPatch } from '@kctl/client';
import { expect, it } from 'vitest';
import { createHttpClient } from '../src/index.js';

const client = createHttpClient({ connection: { server: 'https://127.0.0.1:1' }, maxRetries: 0 });
const key = { namespace: 'shop', name: 'web' };
const metadata = { ...key, creationTimestamp: new Date(Number.NaN) as never };
const problem = 'metadata.creationTimestamp is a Date that is not valid';

it.each<[string, () => Promise<unknown>]>([
  ['create', () => client.create(Pod, { metadata })],
  ['update', () => client.update(ConfigMap, { metadata })],
  ['update of the status', () => client.status(Pod).update({ metadata })],
  ['merge patch', () => client.patch(Pod, key, mergePatch({ metadata }))],
  ['strategic merge patch', () => client.patch(Pod, key, strategicPatch({ metadata }))],
  ['JSON patch', () => client.patch(Pod, key, jsonPatch({ op: 'add', path: '/a', value: { metadata } as never }))],
  ['apply', () => client.patch(Pod, key, applyPatch({ metadata }), { fieldOwner: 'test' })],
  ['patch of the status', () => client.status(Pod).patch(key, mergePatch({ metadata }))],
  ['create of a subresource', () => client.subResource(Pod, 'eviction').create(key, { metadata })],
])('%s refuses a Date that is not valid with its path', async (_verb, call) => {
  await expect(call()).rejects.toThrow(problem);
});
