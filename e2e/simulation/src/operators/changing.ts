import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  ignoreNotFound,
  setControllerReference,
  type Controller,
  type RuntimeManager,
} from '@kctl/runtime';
import type { ReplicaWorld, SimulateOptions, World } from '@kctl/simulation';
import { sleep } from '@kctl/wait';
import { namespace, Widget, widgetOperator } from '../broken/widget.js';
import { Alarms } from './alarms.js';
import { Mirror } from './mirror.js';

/** The uid of no object: a delete that names it must not delete anything. */
const uidOfNone = '00000000-0000-4000-8000-000000000000';

/**
 * What operators do while they run: their limits change, controllers pause, reconcilers and handlers fail and recover,
 * keys are added for a later and then for an earlier time. Users replace objects by others of the same name.
 */
export function changingOperator(): SimulateOptions {
  return {
    ...widgetOperator(() => ({})),
    replicas: 2,
    convergeWithinMs: 900_000,
    // Stubborn writes outlive a stop by design; the uid of an owner, which the children carry, is another in each run.
    except: ['left-behind', 'stop-fails', 'stop-hangs', 'differs-from-undisturbed'],
    operator: createChanging,
    workload: replaceWidgets,
    settled: async ({ client, replicas }) => {
      const { items: children } = await client.list(ConfigMap, { namespace });
      for (const { metadata, spec } of (await client.list(Widget, { namespace })).items) {
        const child = children.find(({ metadata: { name } }) => name === metadata.name);
        if (child?.data?.['owner'] !== metadata.uid || child.data['size'] !== String(spec.size))
          throw new Error(`${metadata.name}: the child does not follow`);
      }
      for (const { operator } of replicas) if (operator instanceof Object) mirrors.get(operator)?.compare(children);
    },
  };
}

/** The mirrors of the replicas that run. */
const mirrors = new WeakMap<object, Mirror>();

async function createChanging(world: ReplicaWorld): Promise<RuntimeManager> {
  const manager = await createManager({
    ...world.options,
    gracefulShutdownTimeoutMs: 10_000,
    health: { port: 8081 },
    leaderElection: { name: 'changing', namespace: 'default' },
  });
  const mirror = new Mirror(world, namespace);
  const alarms = new Alarms(world);
  mirrors.set(manager, mirror);
  const changes = addChildren(manager, world);
  manager.add({ name: 'changes', needLeaderElection: false, run: changes });
  manager.add({ name: 'mirror', needLeaderElection: false, run: (signal) => mirror.run(signal) });
  manager.add({ name: 'alarms', needLeaderElection: false, run: (signal) => alarms.run(signal) });
  manager.add({ name: 'handler', needLeaderElection: false, run: (signal) => failNowAndThen(manager, world, signal) });
  return manager;
}

/** One child for each Widget, which names the uid of its owner. @returns what changes the controller while it runs */
function addChildren(manager: RuntimeManager, world: ReplicaWorld): (signal: AbortSignal) => Promise<void> {
  const { clock, random, violate } = world;
  const { client } = manager;
  const failures = new Map<string, number>();
  let isPaused = false;
  let active = 0;
  const controller: Controller = controllerManagedBy(manager)
    .named('children')
    .for(Widget)
    .owns(ConfigMap)
    .withOptions({ maxConcurrentReconciles: 2 })
    .complete(async (key, { signal }) => {
      const limit = controller.maxConcurrentReconciles;
      if (isPaused) violate('runs-while-paused', `a reconcile of ${key.name} begins while its controller is paused`);
      if (++active > limit) violate('above-its-limit', `${active} reconciles run, and at most ${limit} may`);
      try {
        const widget = await ignoreNotFound(client.get(Widget, key, { signal }));
        if (widget === undefined) return undefined;
        const { uid } = widget.metadata;
        // Fewer failures than the rule `reconcile-fails` accepts in the quiet minutes, which may be the first of a leader.
        const failed = failures.get(uid) ?? 0;
        if (failed < 2 && random() < 0.5) {
          failures.set(uid, failed + 1);
          throw new Error('the outside does not answer yet');
        }
        // Work that does not look at its signal, and whose write must find the fence closed.
        const isStubborn = widget.spec.size % 5 === 0;
        if (isStubborn) await sleep(20_000 * random(), { clock });
        const write = isStubborn ? {} : { signal };
        const child = await ignoreNotFound(client.get(ConfigMap, key, { signal }));
        if (child !== undefined && random() < 0.2) {
          const deleted = await client.delete(ConfigMap, key, { preconditions: { uid: uidOfNone } }).then(
            () => true,
            () => false,
          );
          if (deleted) violate('deletes-another', `${key.name} was deleted by the uid of another object`);
        }
        const size = String(widget.spec.size);
        if (child !== undefined && child.data?.['owner'] !== uid) {
          await client.delete(ConfigMap, child, { preconditions: { uid: child.metadata.uid }, ...write });
        } else if (child !== undefined) {
          if (child.data?.['size'] !== size || child.data['state'] !== 'done') {
            const patch = (state: string): Promise<unknown> =>
              client.patch(ConfigMap, key, { type: 'merge', body: { data: { size, state } } }, write);
            // A read that asks for the outcome of a write, beside the next write: its answer may come last.
            const [isBegun] = await Promise.allSettled([patch('begun')]);
            const question = isBegun.status === 'rejected' ? client.get(ConfigMap, key, write) : undefined;
            const [, written] = await Promise.allSettled([question, patch('done')]);
            if (written.status === 'rejected') throw written.reason;
            await ignoreNotFound(client.get(ConfigMap, key, write));
          }
          return { requeueAfterMs: 3_600_000 };
        }
        const made: ConfigMap = { metadata: { ...key }, data: { owner: uid, size } };
        setControllerReference(widget, Widget, made);
        await client.create(ConfigMap, made, write);
        return { requeueAfterMs: 3_600_000 };
      } finally {
        active--;
      }
    });
  return async (signal) => {
    while (!signal.aborted) {
      await sleep(random() * 20_000, { clock, signal }).catch(() => undefined);
      if (random() < 0.3) controller.setPaused((isPaused = !isPaused));
      else controller.maxConcurrentReconciles = Math.floor(random() * 4);
    }
  };
}

/** A handler that fails for some events: they count as delivered, and it is called for the next ones. */
async function failNowAndThen({ cache }: RuntimeManager, { random }: ReplicaWorld, signal: AbortSignal): Promise<void> {
  await using lease = cache.acquire(Widget);
  const fail = (): void => {
    if (random() < 0.3) throw new Error('the handler does not know what to do');
  };
  const registration = lease.informer.addEventHandler({ onAdd: fail, onUpdate: fail, onDelete: fail });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await registration.remove();
}

/** Creates, edits and deletes, and now and then a deletion at once followed by another object of the name. */
async function replaceWidgets({ client, random, sleep: pause }: World): Promise<void> {
  for (let step = 0; step < 100; step++) {
    await pause(random() < 0.2 ? random() * 20 : random() * 10_000);
    const key = { namespace, name: `w${Math.floor(random() * 6)}` };
    const spec = { size: Math.floor(random() * 100) };
    const chance = random();
    if (chance < 0.4) await ignoreNotFound(client.delete(Widget, key));
    if (chance < 0.1) continue;
    const patched = await ignoreNotFound(client.patch(Widget, key, { type: 'merge', body: { spec } }));
    if (patched === undefined) await client.create(Widget, { metadata: key, spec });
  }
}
