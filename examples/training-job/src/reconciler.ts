import { isAlreadyExists, mutableCopy, setCondition } from '@kctl/apimachinery';
import { Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import {
  controllerManagedBy,
  createManager,
  ignoreNotFound,
  type ObjectReconcileFunction,
  type ReadObject,
  type RuntimeManager,
  type RuntimeManagerOptions,
} from '@kctl/runtime';
import type { Clock } from '@kctl/wait';
import { jobLabels, rankOf, serviceOf, workerPod } from './children.js';
import { TrainingJob, type TrainingJobStatus } from './training-job.js';

/** The workers of a job by what became of them. */
interface Workers {
  readonly active: readonly ReadObject<typeof Pod>[];
  readonly ready: number;
  /** Ranks that are done. */
  readonly succeeded: ReadonlySet<number>;
  readonly failed: number;
}

/**
 * Keeps one pod for each rank that is not done, replaces failed ones up to a limit, and reports in the status how far the
 * job is. `GangReady` is true while every worker is ready at the same time: the moment at which training can begin.
 */
export function reconcileTrainingJob(clock: Clock): ObjectReconcileFunction<typeof TrainingJob> {
  return async (job, { apply, client, logger, signal }) => {
    const { namespace } = job.metadata;
    const pods = await client.list(Pod, { namespace, labelSelector: jobLabels(job), signal });
    const workers = sort(pods.items);
    const wanted = job.spec.workers ?? 1;
    const isOver = workers.succeeded.size >= wanted || workers.failed > (job.spec.backoffLimit ?? 3);
    const surplus = workers.active.filter((pod) => isOver || (rankOf(pod) ?? 0) >= wanted);
    for (const pod of surplus) await ignoreNotFound(client.delete(Pod, pod, { signal }));

    if (!isOver) {
      await apply(Service, serviceOf(job));
      const taken = new Set(workers.active.map(rankOf));
      for (let rank = 0; rank < wanted; rank++) {
        if (taken.has(rank) || workers.succeeded.has(rank)) continue;
        const attempt = pods.items.filter((pod) => rankOf(pod) === rank).length;
        // Created, not applied: a worker of this name that is there already stays as it is.
        await client.create(Pod, workerPod(job, rank, attempt), { signal }).catch(ignoreExisting);
        logger.info('created a worker', { rank, attempt });
      }
    }
    return { status: nextStatus(job, workers, clock.now()) };
  };
}

function sort(pods: readonly ReadObject<typeof Pod>[]): Workers {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const inPhase = (phase: string): ReadObject<typeof Pod>[] => alive.filter(({ status }) => status?.phase === phase);
  const active = alive.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  return {
    active,
    ready: active.filter(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    ).length,
    succeeded: new Set(inPhase('Succeeded').map((pod) => rankOf(pod) ?? 0)),
    failed: inPhase('Failed').length,
  };
}

function nextStatus(job: ReadObject<typeof TrainingJob>, workers: Workers, now: number): TrainingJobStatus {
  const { workers: wanted = 1, backoffLimit = 3 } = job.spec;
  const observedGeneration = job.metadata.generation ?? 0;
  const conditions = mutableCopy(job.status?.conditions ?? []);
  const set = (type: string, holds: boolean, reason: string, message: string): void =>
    void setCondition(
      conditions,
      { type, status: holds ? 'True' : 'False', reason, message, observedGeneration },
      { now },
    );
  const isGangReady = workers.ready === wanted;
  set(
    'GangReady',
    isGangReady,
    isGangReady ? 'AllWorkersReady' : 'WaitingForWorkers',
    `${workers.ready} of ${wanted} workers are ready`,
  );
  const isComplete = workers.succeeded.size >= wanted;
  set(
    'Complete',
    isComplete,
    isComplete ? 'AllWorkersSucceeded' : 'NotYet',
    `${workers.succeeded.size} of ${wanted} workers have succeeded`,
  );
  const hasFailed = !isComplete && workers.failed > backoffLimit;
  set(
    'Failed',
    hasFailed,
    hasFailed ? 'BackoffLimitExceeded' : 'WithinBackoffLimit',
    `${workers.failed} workers have failed, ${backoffLimit} may`,
  );
  return {
    observedGeneration,
    active: workers.active.length,
    ready: workers.ready,
    succeeded: workers.succeeded.size,
    failed: workers.failed,
    conditions,
  };
}

/** Puts the operator together. */
export async function createTrainingOperator(options: RuntimeManagerOptions): Promise<RuntimeManager> {
  const manager = await createManager(options);
  controllerManagedBy(manager)
    .for(TrainingJob)
    .owns(Pod)
    .owns(Service)
    // What the reconciler writes besides the status and what it applies: roles follow from it.
    .onlyNeeds(Pod, ['create', 'delete'])
    .reconcile(reconcileTrainingJob(manager.clock));
  return manager;
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
