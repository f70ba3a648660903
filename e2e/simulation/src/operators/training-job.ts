import { isConflict, isNotFound } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { createTrainingOperator } from '@kctl/example-training-job/reconciler.js';
import { TrainingJob, trainingJobCrd } from '@kctl/example-training-job/training-job.js';
import { ignoreNotFound } from '@kctl/runtime';
import type { SimulateOptions, World } from '@kctl/simulation';

const namespace = 'training';

/** Several children for each object, a status from what becomes of them; the workload plays the kubelet. */
export function trainingJobOperator(): SimulateOptions {
  return {
    operator: ({ options }) =>
      createTrainingOperator({ ...options, leaderElection: { name: 'training-job', namespace: 'default' } }),
    resources: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, trainingJobCrd],
    // How many attempts a worker takes follows from when it failed.
    except: ['differs-from-undisturbed'],
    workload: trainModels,
    settled: async ({ client }) => {
      for (const { metadata, status } of (await client.list(TrainingJob, { namespace })).items) {
        const selector = { namespace, labelSelector: { [`${TrainingJob.group}/job`]: metadata.name } };
        const running = (await client.list(Pod, selector)).items.filter(
          ({ status: { phase } = {} }) => phase !== 'Succeeded' && phase !== 'Failed',
        );
        if (status === undefined || (status.active ?? 0) > running.length)
          throw new Error(
            `${metadata.name}: the status has ${status?.active ?? 0} active workers, ${running.length} are there`,
          );
      }
    },
  };
}

async function trainModels({ client, random, sleep }: World): Promise<void> {
  for (let step = 0; step < 60; step++) {
    await sleep(random() * 20_000);
    const key = { namespace, name: `job-${Math.floor(random() * 4)}` };
    const workers = 1 + Math.floor(random() * 4);
    const chance = random();
    if (chance < 0.1) await ignoreNotFound(client.delete(TrainingJob, key));
    else if (chance < 0.3) {
      const patched = await ignoreNotFound(
        client.patch(TrainingJob, key, { type: 'merge', body: { spec: { workers } } }),
      );
      if (patched === undefined)
        await client.create(TrainingJob, { metadata: key, spec: { image: 'model:1', workers } });
    } else await moveOne(client, random);
  }
}

/** One pod becomes ready, succeeds or fails. */
async function moveOne(client: World['client'], random: () => number): Promise<void> {
  const { items } = await client.list(Pod, { namespace });
  const pod = items[Math.floor(random() * items.length)];
  if (pod === undefined) return;
  const phase = ['Running', 'Running', 'Succeeded', 'Failed'][Math.floor(random() * 4)] ?? 'Running';
  const ready = { type: 'Ready', status: phase === 'Running' ? 'True' : 'False' };
  try {
    await client.status(Pod).patch(pod, { type: 'merge', body: { status: { phase, conditions: [ready] } } });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
