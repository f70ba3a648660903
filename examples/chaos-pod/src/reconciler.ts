import { mutableCopy, setControllerReference } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  ignoreNotFound,
  type ObjectReconcileFunction,
  type ReadObject,
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
export function reconcileChaosPod({
  clock,
  random,
  periodMs,
}: ChaosPodReconcilerOptions): ObjectReconcileFunction<typeof ChaosPod> {
  return async (chaosPod, { client, logger, signal }) => {
    const { name, namespace } = chaosPod.metadata;
    const key = { namespace, name };
    const pod = await ignoreNotFound(client.get(Pod, key, { signal }));
    if (pod !== undefined) {
      const status = statusFrom(pod, chaosPod, clock.now());
      const leftMs = Date.parse(chaosPod.spec.nextStop ?? '') - clock.now();
      if (leftMs > 0) return { status, requeueAfterMs: leftMs };
      logger.info('stopping the pod');
      const preconditions = { uid: pod.metadata.uid };
      await ignoreNotFound(client.delete(Pod, key, { signal, gracePeriodSeconds: 0, preconditions }));
      return { status, backoff: true };
    }

    const { nextStop: before } = chaosPod.spec;
    // A time that is not over stays: a new one for each pod that cannot be created would wake the next run at once.
    const isOver = before === undefined || !(Date.parse(before) > clock.now());
    const nextStop = isOver ? new Date(clock.now() + periodMs * (0.5 + random() / 2)).toISOString() : before;
    const { template } = chaosPod.spec;
    const metadata = mutableCopy(template.metadata ?? {});
    const run = String((chaosPod.status?.runs ?? 0) + 1);
    const draft: Pod = {
      metadata: { ...metadata, ...key, annotations: { ...metadata.annotations, [runAnnotation]: run } },
      ...(template.spec === undefined ? {} : { spec: mutableCopy(template.spec) }),
    };
    setControllerReference(chaosPod, ChaosPod, draft);
    // First the time, then the pod: after a crash in between the pod is created with a time that is not over.
    if (isOver) await client.update(ChaosPod, { ...chaosPod, spec: { ...chaosPod.spec, nextStop } }, { signal });
    await client.create(Pod, draft, { signal });
    logger.info('brought the pod back', { nextStop });
    // The run that follows from the event of the pod reports it.
    return { requeueAfterMs: Date.parse(nextStop) - clock.now() };
  };
}

/** The status follows from the pod: if we crash before it is written, the next run makes up for it. */
function statusFrom(
  { metadata }: ReadObject<typeof Pod>,
  { status = {} }: ReadObject<typeof ChaosPod>,
  now: number,
): NonNullable<ReadObject<typeof ChaosPod>['status']> {
  const runs = Number(metadata.annotations?.[runAnnotation]);
  if (!(runs > (status.runs ?? 0))) return status;
  return { lastRun: metadata.creationTimestamp ?? new Date(now).toISOString(), runs };
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
    // What the reconciler writes besides the status: roles follow from it.
    .needs(ChaosPod, ['update'])
    .onlyNeeds(Pod, ['create', 'delete'])
    .reconcile(reconcileChaosPod({ clock: manager.clock, ...settings }));
  if (options.webhook !== undefined) registerWebhooks(manager);
  return manager;
}
