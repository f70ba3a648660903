import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import { reconcileObject, type EventRecorder } from '@kctl/runtime';
import { Application, applicationCrd } from '@kctl/example-application-operator/application.js';
import { createApplicationReconciler } from '@kctl/example-application-operator/reconciler.js';
import { ChaosPod, chaosPodCrd } from '@kctl/example-chaos-pod/chaos-pod.js';
import { reconcileChaosPod } from '@kctl/example-chaos-pod/reconciler.js';
import { reconcileTrainingJob } from '@kctl/example-training-job/reconciler.js';
import { TrainingJob, trainingJobCrd } from '@kctl/example-training-job/training-job.js';
import type { Flow, Subject, World } from './subject.js';

const namespace = 'default';
const key = { namespace, name: 'it' };
const silent: EventRecorder = { event: () => undefined, normal: () => undefined, warning: () => undefined };

const createApplication = async ({ client }: World): Promise<void> => {
  await client.create(Application, { metadata: key, spec: { image: 'it:1', replicas: 2 } });
};

/** The operator with everything: children, an entry outside of the cluster, a finalizer, a status. */
export const application: Subject = {
  name: 'application-operator',
  crd: applicationCrd,
  request: key,
  kinds: [Application, Deployment, Service],
  start: ({ client, directory, clock }) =>
    reconcileObject({
      client,
      kind: Application,
      fieldOwner: 'application-operator',
      ...createApplicationReconciler({ directory, clock, events: silent }),
    }),
  flows: [
    { name: 'create', change: createApplication },
    {
      name: 'update',
      prepare: createApplication,
      change: async ({ client }) => {
        const body = { spec: { image: 'it:2', replicas: 3, port: 9090 } };
        await client.patch(Application, key, { type: 'merge', body });
      },
    },
    {
      name: 'children deleted and edited by hand',
      prepare: createApplication,
      change: async ({ client }) => {
        await client.delete(Service, key);
        await client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 7 } } });
      },
    },
    {
      name: 'children ready',
      prepare: createApplication,
      change: async ({ client }) => {
        const body = { status: { replicas: 2, readyReplicas: 2 } };
        await client.status(Deployment).patch(key, { type: 'merge', body });
      },
    },
    {
      name: 'delete',
      prepare: createApplication,
      leavesNothing: true,
      change: ({ client }) => client.delete(Application, key),
    },
    {
      name: 'delete before anything was done',
      leavesNothing: true,
      change: async (world) => {
        await createApplication(world);
        await world.client.delete(Application, key);
      },
    },
  ],
};

const createJob = async ({ client }: World): Promise<void> => {
  await client.create(TrainingJob, { metadata: key, spec: { image: 'train:1', workers: 3, backoffLimit: 1 } });
};
const setPhase = async ({ client }: World, name: string, phase: string): Promise<void> => {
  await client.status(Pod).patch({ namespace, name }, { type: 'merge', body: { status: { phase } } });
};
const scaleTo = (workers: number): Flow => ({
  name: `scale to ${workers}`,
  prepare: createJob,
  change: async ({ client }) => {
    await client.patch(TrainingJob, key, { type: 'merge', body: { spec: { workers } } });
  },
});

/** Many children, whose names depend on what was there before. */
export const trainingJob: Subject = {
  name: 'training-job',
  crd: trainingJobCrd,
  request: key,
  kinds: [TrainingJob, Pod, Service],
  start: ({ client, clock }) =>
    reconcileObject({
      client,
      kind: TrainingJob,
      fieldOwner: 'training-job',
      reconcile: reconcileTrainingJob(clock),
    }),
  flows: [
    { name: 'create', change: createJob },
    scaleTo(1),
    scaleTo(5),
    { name: 'a worker fails', prepare: createJob, change: (world) => setPhase(world, 'it-1-0', 'Failed') },
    {
      name: 'too many workers fail',
      prepare: createJob,
      change: async (world) => {
        for (const rank of [0, 2]) await setPhase(world, `it-${rank}-0`, 'Failed');
      },
    },
    {
      name: 'all workers succeed',
      prepare: createJob,
      change: async (world) => {
        for (const rank of [0, 1, 2]) await setPhase(world, `it-${rank}-0`, 'Succeeded');
      },
    },
    {
      name: 'delete',
      prepare: createJob,
      leavesNothing: true,
      change: ({ client }) => client.delete(TrainingJob, key),
    },
  ],
};

const periodMs = 60_000;
const createChaosPod = async ({ client }: World): Promise<void> => {
  const template = { spec: { containers: [{ name: 'it', image: 'it:1' }] } };
  await client.create(ChaosPod, { metadata: key, spec: { template } });
};

/** Time decides what it does, and its status counts. */
export const chaosPod: Subject = {
  name: 'chaos-pod',
  crd: chaosPodCrd,
  request: key,
  kinds: [ChaosPod, Pod],
  start: ({ client, clock }) =>
    reconcileObject({
      client,
      kind: ChaosPod,
      fieldOwner: 'chaos-pod',
      reconcile: reconcileChaosPod({ clock, periodMs, random: () => 0.5 }),
    }),
  flows: [
    { name: 'create', change: createChaosPod },
    {
      name: 'its time has come',
      prepare: createChaosPod,
      change: ({ clock }) => clock.advance(2 * periodMs),
    },
    {
      name: 'the pod is deleted',
      prepare: createChaosPod,
      change: ({ client }) => client.delete(Pod, key),
    },
    {
      name: 'delete',
      prepare: createChaosPod,
      leavesNothing: true,
      change: ({ client }) => client.delete(ChaosPod, key),
    },
  ],
};

/** The reconcilers of the examples. */
export const subjects: readonly Subject[] = [application, trainingJob, chaosPod];
