import { formatKey, mutableCopy, setCondition, type DeepReadonly } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { EventRecorder, ObjectReconcileFunction, Finalizer } from '@kctl/runtime';
import type { Clock } from '@kctl/wait';
import type { Application, ApplicationStatus } from './application.js';
import { deploymentOf, serviceOf } from './children.js';
import type { Directory } from './directory.js';

/** Keeps an Application until it was taken out of the directory. */
export const cleanupFinalizer = 'demo.kctl.dev/directory';

/** What the reconciler works with. */
export interface ApplicationReconcilerOptions {
  readonly events: EventRecorder;
  readonly directory: Directory;
  readonly clock: Clock;
}

/** What `reconcile` of a builder takes. */
export interface ApplicationReconciler {
  readonly reconcile: ObjectReconcileFunction<typeof Application>;
  readonly finalizers: readonly Finalizer<typeof Application>[];
}

/**
 * Makes the cluster agree with one Application: a Deployment, a Service, an entry in the directory, and a status that
 * reports its progress. Whatever it does makes things be so, and nothing is sent where they are: it may run at any moment,
 * any number of times, also after a crash in the middle.
 */
export function createApplicationReconciler({
  events,
  directory,
  clock,
}: ApplicationReconcilerOptions): ApplicationReconciler {
  return {
    reconcile: async (application, { apply, logger }) => {
      const deployment = await apply(Deployment, deploymentOf(application));
      await apply(Service, serviceOf(application));

      const { name, namespace } = application.metadata;
      const address = `http://${name}.${namespace}.svc`;
      if (await directory.register(formatKey(application.metadata), address)) {
        logger.info('entered into the directory', { address });
        events.normal(application, 'Registered', `entered into the directory as ${address}`);
      }
      return { status: nextStatus(application, deployment, { address, now: clock.now() }) };
    },
    finalizers: [
      {
        name: cleanupFinalizer,
        cleanup: async (application, { logger }) => {
          if (await directory.deregister(formatKey(application.metadata))) logger.info('taken out of the directory');
          events.normal(application, 'Deregistered', 'taken out of the directory');
        },
      },
    ],
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
