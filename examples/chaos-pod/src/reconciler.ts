import { isNotFound, mutableCopy, setControllerReference } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  ignoreNotFound,
  type Client,
  type ReconcileFunction,
  type RuntimeManager,
  type RuntimeManagerOptions,
} from '@kctl/runtime';
import type { Clock, Random } from '@kctl/wait';
import { ChaosPod } from './chaos-pod.js';

/** What the reconciler works with. */
export interface ChaosPodReconcilerOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** When within a period a pod is stopped. */
  readonly random: Random;
  /** The longest life of a pod, in ms. */
  readonly periodMs: number;
}

/**
 * Keeps a pod alive until its time has come, stops it then, and brings it back with a new time. After controller-runtime's
 * example of the same name.
 */
export function createChaosPodReconciler({
  client,
  clock,
  random,
  periodMs,
}: ChaosPodReconcilerOptions): ReconcileFunction {
  return async ({ namespace = '', name }, { signal, logger }) => {
    const key = { namespace, name };
    const chaosPod = await ignoreNotFound(client.get(ChaosPod, key, { signal }));
    if (chaosPod === undefined || chaosPod.metadata.deletionTimestamp !== undefined) return;

    const pod = await ignoreNotFound(client.get(Pod, key, { signal }));
    if (pod !== undefined) {
      const leftMs = Date.parse(chaosPod.spec.nextStop ?? '') - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      logger.info('stopping the pod');
      await client
        .delete(Pod, key, { signal, gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid ?? '' } })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      return { backoff: true };
    }

    const nextStop = new Date(clock.now() + periodMs * (0.5 + random() / 2)).toISOString();
    const { template } = chaosPod.spec;
    const draft: Pod = {
      metadata: { ...mutableCopy(template.metadata ?? {}), ...key },
      ...(template.spec === undefined ? {} : { spec: mutableCopy(template.spec) }),
    };
    setControllerReference(chaosPod, ChaosPod, draft);
    // First the time, then the pod: after a crash in between the pod is created with a time that is not over.
    const updated = await client.update(ChaosPod, { ...chaosPod, spec: { ...chaosPod.spec, nextStop } }, { signal });
    await client.create(Pod, draft, { signal });
    const status = { lastRun: new Date(clock.now()).toISOString(), runs: (chaosPod.status?.runs ?? 0) + 1 };
    await client.status(ChaosPod).update({ ...updated, status }, { signal });
    logger.info('brought the pod back', { nextStop });
    return { requeueAfterMs: Date.parse(nextStop) - clock.now() };
  };
}

/** Puts the controller together. */
export async function createChaos(
  options: RuntimeManagerOptions,
  settings: Pick<ChaosPodReconcilerOptions, 'random' | 'periodMs'>,
): Promise<RuntimeManager> {
  const manager = await createManager(options);
  controllerManagedBy(manager)
    .for(ChaosPod)
    .owns(Pod)
    .complete(createChaosPodReconciler({ client: manager.client, clock: manager.clock, ...settings }));
  return manager;
}
