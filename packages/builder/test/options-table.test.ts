import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { createManager } from '@kctl/manager';
import { settle } from '@kctl/wait/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { controllerManagedBy } from '../src/index.js';
import { FakeCache, fakeCluster } from './fakes.js';

interface Row {
  readonly option: string;
  readonly ours: unknown;
  /** As controller-runtime's `builder` has it (main, August 2026). */
  readonly upstream: unknown;
}

const App = defineKind({ group: 'apps.example.com', version: 'v1', kind: 'App', scope: 'Namespaced' });
const Pod = defineKind({ group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' });

const cache = new FakeCache();
const seen: string[] = [];
const manager = createManager({ cluster: fakeCluster(cache) });
const controller = controllerManagedBy(manager)
  .for(App)
  .owns(Pod)
  .complete(async ({ name }) => void seen.push(name));

/** Which owners of a dependent are reconciled, and what is watched: found by running the controller once. */
async function observe(): Promise<void> {
  const stop = new AbortController();
  const done = manager.run(stop.signal);
  await manager.elected;
  await settle();
  const owner = (name: string, isController: boolean) => ({
    apiVersion: 'apps.example.com/v1',
    kind: 'App',
    name,
    uid: name,
    controller: isController,
  });
  const pod: KubeObject = {
    metadata: { namespace: 'a', name: 'p', ownerReferences: [owner('other', false), owner('controller', true)] },
  };
  cache.add(Pod, pod);
  await settle();
  stop.abort();
  await done;
}
await observe();

const rows: readonly Row[] = [
  { option: 'Named', ours: controller.name, upstream: 'app' },
  { option: 'Owns: which owners', ours: seen, upstream: ['controller'] },
  { option: 'For, Owns: projection', ours: [...cache.handlers.keys()], upstream: ['App/full', 'Pod/full'] },
  { option: 'MaxConcurrentReconciles', ours: controller.maxConcurrentReconciles, upstream: 1 },
  { option: 'NeedLeaderElection', ours: controller.needLeaderElection, upstream: true },
  { option: 'WithPredicates, WithEventFilter', ours: 'none', upstream: 'none' },
];

describe('defaults', () => {
  afterAll(() => console.table(rows));

  it.each(rows)('$option: ours $ours, upstream $upstream', ({ ours, upstream }) => {
    expect(ours).toEqual(upstream);
  });
});
