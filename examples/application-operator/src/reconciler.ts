import {
  formatKey,
  hasFinalizer,
  isDeleting,
  isSameJson,
  mutableCopy,
  setCondition,
  type DeepReadonly,
  type NamespacedKey,
} from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import {
  addFinalizer,
  createOrUpdate,
  ignoreNotFound,
  removeFinalizer,
  type Client,
  type EventRecorder,
  type ReconcileFunction,
} from '@kctl/runtime';
import type { Clock } from '@kctl/wait';
import { Application, type ApplicationStatus } from './application.js';
import { shapeDeployment, shapeService } from './children.js';
import type { Directory } from './directory.js';

/** Keeps an Application until it was taken out of the directory. */
export const cleanupFinalizer = 'demo.kctl.dev/directory';

/** What the reconciler works with. */
export interface ApplicationReconcilerOptions {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly directory: Directory;
  readonly clock: Clock;
}

/**
 * Makes the cluster agree with one Application: a Deployment, a Service, an entry in the directory, and a status that
 * reports its progress. It reads everything anew each time and writes only what differs, so it may run at any moment,
 * any number of times, also after a crash in the middle.
 */
export function createApplicationReconciler({
  client,
  events,
  directory,
  clock,
}: ApplicationReconcilerOptions): ReconcileFunction<NamespacedKey> {
  return async (key, { signal, logger }) => {
    let application = await ignoreNotFound(client.get(Application, key, { signal }));
    if (application === undefined) return; // gone; its children went with it, by their owner references

    if (isDeleting(application)) {
      if (!hasFinalizer(application, cleanupFinalizer)) return;
      if (await directory.deregister(formatKey(key))) logger.info('taken out of the directory');
      events.normal(application, 'Deregistered', 'taken out of the directory');
      await removeFinalizer(client, Application, application, { finalizer: cleanupFinalizer, signal });
      return;
    }
    application = await addFinalizer(client, Application, application, { finalizer: cleanupFinalizer, signal });
    const owner = application;

    const deployment = await createOrUpdate(client, Deployment, key, {
      mutate: (draft) => shapeDeployment(owner, draft),
      signal,
    });
    const service = await createOrUpdate(client, Service, key, {
      mutate: (draft) => shapeService(owner, draft),
      signal,
    });
    for (const [kind, { result }] of [
      ['Deployment', deployment],
      ['Service', service],
    ] as const) {
      if (result === 'unchanged') continue;
      logger.info(`${kind} ${result}`);
      events.normal(owner, `${kind}${result === 'created' ? 'Created' : 'Updated'}`, `${kind} ${key.name} ${result}`);
    }

    const address = `http://${key.name}.${key.namespace}.svc`;
    if (await directory.register(formatKey(key), address)) logger.info('entered into the directory', { address });

    const status = nextStatus(application, deployment.object, { address, now: clock.now() });
    if (!isSameJson(status, application.status ?? {}))
      await client.status(Application).update({ ...application, status }, { signal });
  };
}

function nextStatus(
  application: DeepReadonly<Application>,
  deployment: DeepReadonly<Deployment>,
  { address, now }: { address: string; now: number },
): ApplicationStatus {
  const wanted = application.spec.replicas ?? 1;
  const ready = deployment.status?.readyReplicas ?? 0;
  const observedGeneration = application.metadata.generation ?? 0;
  const conditions = mutableCopy(application.status?.conditions ?? []);
  setCondition(
    conditions,
    {
      type: 'Available',
      status: ready >= wanted ? 'True' : 'False',
      reason: ready >= wanted ? 'AllReplicasReady' : 'WaitingForReplicas',
      message: `${ready} of ${wanted} replicas are ready`,
      observedGeneration,
    },
    { now },
  );
  return { observedGeneration, readyReplicas: ready, address, conditions };
}
