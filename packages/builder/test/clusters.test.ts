import { defineKind } from '@kctl/apimachinery';
import type { ObjectEvent, RequestQueue } from '@kctl/controller';
import { kindSource } from '@kctl/controller';
import { headerOfEvent } from '@kctl/controller/internal';
import { createManager } from '@kctl/manager';
import { settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { controllerManagedBy } from '../src/index.js';
import { FakeCache, fakeCluster } from './fakes.js';

interface ClusterKey {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });

/** The source of one cluster's pods: keys say where they are from. */
function podsOf(cluster: string, informers: FakeCache) {
  return kindSource({
    informers,
    kind: Pod,
    handler: (event: ObjectEvent, queue: RequestQueue<ClusterKey>) => {
      const { namespace, name } = headerOfEvent(event);
      queue.add({ cluster, namespace, name });
      return undefined;
    },
  });
}

it('takes on a cluster while it runs, tells keys of clusters apart, and lets go of it again', async () => {
  const home = new FakeCache();
  const manager = createManager({ cluster: fakeCluster(home) });
  const seen: string[] = [];
  const controller = controllerManagedBy<ClusterKey>(manager)
    .named('everywhere')
    .watchesRawSource(podsOf('home', home))
    .complete(async ({ cluster, name }) => void seen.push(`${cluster}/${name}`));
  const stop = new AbortController();
  const done = manager.run(stop.signal);
  await manager.elected;
  await settle();

  const away = new FakeCache();
  const cluster = manager.add({ ...fakeCluster(away), name: 'away' });
  const watch = controller.watch(podsOf('away', away));
  await watch.waitForSync();
  const pod = { metadata: { namespace: 'a', name: 'p' } };
  home.add(Pod, pod);
  away.add(Pod, pod);
  await settle();
  expect([seen, away.log]).toEqual([
    ['home/p', 'away/p'],
    ['cache runs', 'cache synced'],
  ]);

  await watch.remove();
  await cluster.remove();
  away.add(Pod, pod);
  home.add(Pod, pod);
  await settle();
  expect(seen).toEqual(['home/p', 'away/p', 'home/p']);
  expect([away.log.at(-1), home.log.at(-1), controller.phase]).toEqual(['cache ends', 'cache synced', 'active']);
  stop.abort();
  await done;
});
