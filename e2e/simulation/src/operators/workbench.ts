import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  ignoreNotFound,
  setControllerReference,
  type RuntimeManager,
} from '@kctl/runtime';
import type { ReplicaWorld, SimulateOptions, World } from '@kctl/simulation';
import { sleep } from '@kctl/wait';
import { namespace, Widget, widgetOperator } from '../broken/widget.js';

/** How long after a process first sees it a Widget has expired, in ms. */
const lifetimeMs = 30_000;

/**
 * More of our own stack than one reconciler has: children found by an index over a function, a run that is asked for at
 * a time which may have passed, work that ignores its stop, a queue without priorities, informers that list, and users
 * who do not pause.
 */
export function workbenchOperator(): SimulateOptions {
  return { ...obedientOperator(), operator: (world) => createWorkbench(world, true) };
}

/**
 * The same without the work that ignores its stop: a process that loses its lease stays, and goes on with what it had
 * begun once it leads again.
 */
export function obedientOperator(): SimulateOptions {
  return {
    ...widgetOperator(() => ({})),
    replicas: 3,
    // A watch that hangs is found out after minutes, and then each Widget waits for its lifetime, one after the other.
    convergeWithinMs: 1_200_000,
    // Work that ignores its stop is left behind and fails the stop by design, and a name that the server makes is made again after a crash.
    except: ['left-behind', 'stop-fails', 'stop-hangs', 'differs-from-undisturbed'],
    operator: (world) => createWorkbench(world, false),
    workload: useWidgetsWithoutPause,
    settled: async ({ client }) => {
      const { items: children } = await client.list(ConfigMap, { namespace });
      for (const { metadata, spec, status } of (await client.list(Widget, { namespace })).items) {
        if (status?.checkedAt === undefined) throw new Error(`${metadata.name} has not expired`);
        const sizes = children.flatMap(({ data }) => (data?.['owner'] === metadata.name ? [data['size']] : []));
        if (sizes.length === 0 || sizes.some((size) => size !== String(spec.size)))
          throw new Error(`${metadata.name}: its children have the sizes ${sizes.join(', ')}`);
      }
    },
  };
}

async function createWorkbench(world: ReplicaWorld, isStubborn: boolean): Promise<RuntimeManager> {
  const manager = await createManager({
    ...world.options,
    gracefulShutdownTimeoutMs: 10_000,
    cache: { watchList: false },
    health: { port: 8081 },
    leaderElection: { name: 'workbench', namespace: 'default' },
  });
  manager.cache.addIndex(ConfigMap, 'owner', ({ data }) => (data?.['owner'] === undefined ? [] : [data['owner']]));
  addChildren(manager, world);
  addExpiry(manager, world);
  if (isStubborn) addStubbornWork(manager, world);
  return manager;
}

/** One child for each Widget, found by the index. */
function addChildren(manager: RuntimeManager, { violate }: ReplicaWorld): void {
  const { client } = manager;
  controllerManagedBy(manager)
    .named('children')
    .for(Widget)
    .owns(ConfigMap)
    .withOptions({ maxConcurrentReconciles: 3 })
    .complete(async (key, { signal }) => {
      const widget = await ignoreNotFound(client.get(Widget, key, { signal }));
      if (widget === undefined) return;
      const ofOwner = { namespace: key.namespace, fieldSelector: { owner: key.name }, signal };
      const { items } = await client.list(ConfigMap, ofOwner);
      const size = String(widget.spec.size);
      for (const { metadata, data } of items) {
        if (data?.['size'] === size) continue;
        if (widget.spec.size % 3 === 0) {
          await ignoreNotFound(client.delete(ConfigMap, metadata, { signal }));
          continue;
        }
        // Two at the same time, whose answers may come in any order.
        const write = (body: object): Promise<unknown> =>
          client.patch(ConfigMap, metadata, { type: 'merge', body }, { signal });
        await Promise.all([write({ data: { size } }), write({ metadata: { labels: { size } } })]);
      }
      if (items.some(({ data }) => data?.['size'] === size) || (items.length > 0 && widget.spec.size % 3 !== 0)) return;
      const child: ConfigMap = {
        metadata: { namespace: key.namespace, generateName: `${key.name}-` },
        data: { owner: key.name, size },
      };
      setControllerReference(widget, Widget, child);
      const { metadata } = await client.create(ConfigMap, child, { signal });
      const isListed = async (): Promise<boolean> => {
        const found = (await client.list(ConfigMap, ofOwner)).items;
        return found.some(({ metadata: { uid } }) => uid === metadata.uid);
      };
      if (await isListed()) return;
      // Deleted by another meanwhile, or not seen?
      const live = await ignoreNotFound(client.get(ConfigMap, metadata, { live: true, signal }));
      if (live?.metadata.uid === metadata.uid && !(await isListed()))
        violate(
          'reads-behind-own-writes',
          `a list by an index lacks ${metadata.name}, which was created`,
          `configmaps ${key.namespace}/${metadata.name}`,
        );
    });
}

/** Says in the status when a Widget is older than its lifetime; how long that takes is computed a moment late. */
function addExpiry(manager: RuntimeManager, { clock, random }: ReplicaWorld): void {
  const { client } = manager;
  // Since when each Widget is known to this process: its wall clock may jump by an hour.
  const knownSince = new Map<string, number>();
  controllerManagedBy(manager)
    .named('expiry')
    .for(Widget)
    .complete(async (key, { signal }) => {
      const widget = await ignoreNotFound(client.get(Widget, key, { signal }));
      if (widget === undefined || widget.status?.checkedAt !== undefined) return undefined;
      const since = knownSince.get(widget.metadata.uid) ?? clock.monotonicNow();
      knownSince.set(widget.metadata.uid, since);
      if (clock.monotonicNow() < since + lifetimeMs) {
        await sleep(random() * 2 * lifetimeMs, { clock, signal });
        return { requeueAfterMs: since + lifetimeMs - clock.monotonicNow() };
      }
      const body = { status: { checkedAt: new Date(clock.now()).toISOString() } };
      await client.status(Widget).patch(key, { type: 'merge', body }, { signal });
      return undefined;
    });
}

/** Takes long for some Widgets, whatever its signal says. */
function addStubbornWork(manager: RuntimeManager, { clock }: ReplicaWorld): void {
  const { client } = manager;
  controllerManagedBy(manager)
    .named('stubborn')
    .for(Widget)
    .withOptions({ usePriorityQueue: false, maxConcurrentReconciles: 2 })
    .complete(async (key) => {
      const widget = await ignoreNotFound(client.get(Widget, key));
      if (widget !== undefined && widget.spec.size % 4 === 0) await sleep(40_000, { clock });
    });
}

async function useWidgetsWithoutPause({ client, random, sleep: pause }: World): Promise<void> {
  for (let step = 0; step < 120; step++) {
    // Some edits come one right after the other.
    await pause(random() < 0.2 ? random() * 20 : random() * 10_000);
    const key = { namespace, name: `w${Math.floor(random() * 8)}` };
    const size = Math.floor(random() * 100);
    const chance = random();
    if (chance < 0.15) await ignoreNotFound(client.delete(Widget, key));
    else {
      const body = { spec: { size } };
      const patched = await ignoreNotFound(client.patch(Widget, key, { type: 'merge', body }));
      if (patched === undefined) await client.create(Widget, { metadata: key, spec: { size } });
    }
  }
}
