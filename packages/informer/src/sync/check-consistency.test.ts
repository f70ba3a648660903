import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createIndexer } from '@kctl/cache-index';
import { expect, it } from 'vitest';
import { checkConsistency } from './check-consistency.js';

const client = { list: () => Promise.resolve({ metadata: {}, items: [] }) };
const store = createIndexer<ConfigMap>();
store.replace([], '5');

it.each([
  ['client', { get: client.list }, 'checkConsistency: client'],
  ['store', { get: client.list, resourceVersion: '5' }, 'checkConsistency: store'],
  ['store', createIndexer<ConfigMap>(), 'checkConsistency: store.resourceVersion'],
])('refuses a %s that it cannot compare', async (name, part, problem) => {
  await expect(checkConsistency({ client, kind: ConfigMap, store, [name]: part })).rejects.toThrow(problem);
});
