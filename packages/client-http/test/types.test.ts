import { metadataOnly } from '@kctl/apimachinery';
import type { KubeList, PersistedObject } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import type { FrameReader, WatchingClient } from '@kctl/client';
import type { KubeConfig } from '@kubernetes/client-node';
import { describe, expectTypeOf, it } from 'vitest';
import type { HttpClient, KubeConfigLike } from '../src/index.js';

declare const client: HttpClient;
const key = { namespace: 'ns', name: 'a' };

/** Never called: it is the compiler that tests it. */
export async function compiles(): Promise<void> {
  const live = await client.get(ConfigMap, key);
  live.data = { own: 'a live read belongs to the reader' };
  await client.update(ConfigMap, live);
  expectTypeOf(await client.list(ConfigMap)).toExtend<KubeList<ConfigMap>>();
  for await (const event of await client.watch(ConfigMap)) {
    if (event.type === 'ADDED') expectTypeOf(event.object).toEqualTypeOf<PersistedObject<typeof ConfigMap>>();
  }
  await client.get(Namespace, { name: 'cluster-scoped objects have no namespace' });
  // @ts-expect-error a namespaced kind needs a namespace
  await client.get(ConfigMap, { name: 'a' });
  // @ts-expect-error the wrong object for the kind
  await client.create(ConfigMap, { metadata: {}, data: { a: 1 } });
  const { metadata } = await client.get(metadataOnly(ConfigMap), key);
  expectTypeOf(metadata.name).toEqualTypeOf<string>();
  // @ts-expect-error metadata alone has no data
  console.log((await client.get(metadataOnly(ConfigMap), key)).data);
  // @ts-expect-error an apply is a patch, not a string
  await client.patch(ConfigMap, key, 'apply');
}

describe('the types', () => {
  it('are those of the contracts, and of client-node', () => {
    expectTypeOf<HttpClient>().toExtend<WatchingClient & FrameReader & AsyncDisposable>();
    expectTypeOf<KubeConfig>().toExtend<KubeConfigLike>();
  });
});
