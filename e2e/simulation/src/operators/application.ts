import { isNotFound } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Namespace, Service } from '@kctl/apimachinery/kinds/core/v1';
import { Application, applicationCrd } from '@kctl/example-application-operator/application.js';
import { createDirectory } from '@kctl/example-application-operator/directory.js';
import { createOperator } from '@kctl/example-application-operator/operator.js';
import type { SimulateOptions, World } from '@kctl/simulation';

const namespace = 'demo';
const demo = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };

/** The example with everything: children, an entry outside of the cluster, a finalizer, a status. */
export function applicationOperator(objects = 8): SimulateOptions {
  return {
    operator: ({ options }) =>
      createOperator(
        { ...options, leaderElection: { name: 'application-operator', namespace: 'default' } },
        createDirectory(),
      ),
    resources: [demo, applicationCrd],
    workload: (world) => useApplications(world, objects),
    settled: async ({ client }) => {
      const { items } = await client.list(Application, { namespace });
      for (const { metadata, spec, status } of items) {
        if (status?.observedGeneration !== metadata.generation) throw new Error(`${metadata.name}: the status is old`);
        const deployment = await client.get(Deployment, metadata);
        await client.get(Service, metadata);
        if (deployment.spec?.replicas !== (spec.replicas ?? 1)) throw new Error(`${metadata.name}: replicas differ`);
      }
    },
  };
}

async function useApplications({ client, random, sleep }: World, objects: number): Promise<void> {
  await client.get(Namespace, { name: namespace });
  const name = (): string => `app-${Math.floor(random() * objects)}`;
  for (let step = 0; step < 5 * objects; step++) {
    await sleep(1000 + random() * 20_000);
    const key = { namespace, name: name() };
    const chance = random();
    const spec = { image: `shop:${Math.floor(random() * 100)}`, replicas: Math.floor(random() * 5) };
    try {
      if (chance < 0.2) await client.delete(Application, key);
      else await client.patch(Application, key, { type: 'merge', body: { spec } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await client.create(Application, { metadata: key, spec });
    }
  }
}
