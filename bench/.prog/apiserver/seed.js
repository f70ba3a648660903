// Fills a server with ConfigMaps of about 1 KB: a namespace of 5,000 and one of as many as are asked for.
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
                                                    
import { configMapData, created, large, largeCount, small, smallCount, watched, watchedCount } from './workload.js';

const connections = 16;

async function fill(client            , namespace        , count        )                {
  await client.create(Namespace, { metadata: { name: namespace } });
  let next = 0;
  const worker = async ()                => {
    while (next < count) {
      const i = next++;
      await client.create(ConfigMap, { metadata: { namespace, name: `object-${i}` }, data: configMapData(i) });
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

export async function seed(client            )                {
  await fill(client, watched, watchedCount);
  await fill(client, created, 0);
  await fill(client, small, smallCount);
  await fill(client, large, largeCount);
}
