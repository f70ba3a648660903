import { setControllerReference, type DeepReadonly } from '@kctl/apimachinery';
import type { Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import type { ChildConfiguration, ReadObject } from '@kctl/runtime';
import { TrainingJob } from './training-job.js';

type Job = ReadObject<typeof TrainingJob>;

const jobLabel = 'training.demo.kctl.dev/job';
const rankLabel = 'training.demo.kctl.dev/rank';
const masterPort = 29_500;

/** Labels that the pods of a job share. */
export function jobLabels(job: Job): Record<string, string> {
  return { [jobLabel]: job.metadata.name };
}

/** The rank of a worker's pod; undefined for a pod that is none. */
export function rankOf({ metadata }: DeepReadonly<Pod>): number | undefined {
  const rank = metadata.labels?.[rankLabel];
  return rank === undefined ? undefined : Number(rank);
}

/**
 * The pod of a worker. Its name follows from the rank and the attempt, so that creating it twice fails instead of making
 * two, and a failed worker's successor does not collide with it.
 */
export function workerPod(job: Job, rank: number, attempt: number): Pod {
  const { name, namespace } = job.metadata;
  const { image, command, workers = 1 } = job.spec;
  const pod: Pod = {
    metadata: {
      namespace,
      name: `${name}-${rank}-${attempt}`,
      labels: { ...jobLabels(job), [rankLabel]: String(rank) },
    },
    spec: {
      restartPolicy: 'Never',
      hostname: `${name}-${rank}`,
      subdomain: name,
      containers: [
        {
          name: 'trainer',
          image,
          ...(command === undefined ? {} : { command: [...command] }),
          env: [
            { name: 'RANK', value: String(rank) },
            { name: 'WORLD_SIZE', value: String(workers) },
            { name: 'MASTER_ADDR', value: `${name}-0.${name}.${namespace}.svc` },
            { name: 'MASTER_PORT', value: String(masterPort) },
          ],
        },
      ],
    },
  };
  setControllerReference(job, TrainingJob, pod);
  return pod;
}

/** The headless Service by which workers find one another. */
export function serviceOf(job: Job): ChildConfiguration<typeof Service> {
  return {
    metadata: { name: job.metadata.name },
    spec: {
      clusterIP: 'None',
      selector: jobLabels(job),
      publishNotReadyAddresses: true,
      ports: [{ name: 'rendezvous', port: masterPort, targetPort: masterPort }],
    },
  };
}
