import {
  isNotFound,
  mutableCopy,
  setControllerReference,
  type DeepReadonly,
  type NamespacedKey,
} from '@kctl/apimachinery';
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
import { registerWebhooks } from './webhooks.js';

/** Annotates a pod with the number of the run. */
const runAnnotation = `${ChaosPod.group}/run`;

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
}: ChaosPodReconcilerOptions): ReconcileFunction<NamespacedKey> {
  return async (key, { signal, logger }) => {
    const chaosPod = await ignoreNotFound(client.get(ChaosPod, key, { signal }));
    if (chaosPod === undefined || chaosPod.metadata.deletionTimestamp !== undefined) return;

    // The status follows from the pod: if we crash before it is written, the next run makes up for it.
    const report = async (present: DeepReadonly<ChaosPod>, { metadata }: DeepReadonly<Pod>): Promise<void> => {
      const runs = Number(metadata.annotations?.[runAnnotation]);
      if (!(runs > (present.status?.runs ?? 0))) return;
      const { creationTimestamp: lastRun = new Date(clock.now()).toISOString() } = metadata;
      await client.status(ChaosPod).update({ ...present, status: { lastRun, runs } }, { signal });
    };

    const pod = await ignoreNotFound(client.get(Pod, key, { signal }));
    if (pod !== undefined) {
      await report(chaosPod, pod);
      const leftMs = Date.parse(chaosPod.spec.nextStop ?? '') - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      logger.info('stopping the pod');
      await client
        .delete(Pod, key, { signal, gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      return { backoff: true };
    }

    const nextStop = new Date(clock.now() + periodMs * (0.5 + random() / 2)).toISOString();
    const { template } = chaosPod.spec;
    const metadata = mutableCopy(template.metadata ?? {});
    const run = String((chaosPod.status?.runs ?? 0) + 1);
    const draft: Pod = {
      metadata: { ...metadata, ...key, annotations: { ...metadata.annotations, [runAnnotation]: run } },
      ...(template.spec === undefined ? {} : { spec: mutableCopy(template.spec) }),
    };
    setControllerReference(chaosPod, ChaosPod, draft);
    // First the time, then the pod: after a crash in between the pod is created with a time that is not over.
    const updated = await client.update(ChaosPod, { ...chaosPod, spec: { ...chaosPod.spec, nextStop } }, { signal });
    await report(updated, await client.create(Pod, draft, { signal }));
    logger.info('brought the pod back', { nextStop });
    return { requeueAfterMs: Date.parse(nextStop) - clock.now() };
  };
}

/** Puts the controller together, and its webhooks where `options.webhook` says how to serve them. */
export async function createChaos(
  options: RuntimeManagerOptions,
  settings: Pick<ChaosPodReconcilerOptions, 'random' | 'periodMs'>,
): Promise<RuntimeManager> {
  const manager = await createManager(options);
  controllerManagedBy(manager)
    .for(ChaosPod)
    .owns(Pod)
    // What the reconciler writes: roles follow from it.
    .needs(ChaosPod, ['update'])
    .needs(ChaosPod, ['update'], { subresource: 'status' })
    .needs(Pod, ['create', 'delete'])
    .complete(createChaosPodReconciler({ client: manager.client, clock: manager.clock, ...settings }));
  if (options.webhook !== undefined) registerWebhooks(manager);
  return manager;
}
