import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { ChaosPod, chaosPodCrd } from '@kctl/example-chaos-pod/chaos-pod.js';
import { createChaos } from '@kctl/example-chaos-pod/reconciler.js';
import { ignoreNotFound } from '@kctl/runtime';
import type { SimulateOptions, World } from '@kctl/simulation';

const namespace = 'chaos';
/** Longer than a quiet time, so that little moves in it. */
const periodMs = 1_800_000;

/** Timers that follow from the clock: each pod is stopped at its time and brought back. */
export function chaosPodOperator(): SimulateOptions {
  return {
    operator: ({ options, random }) =>
      createChaos({ ...options, leaderElection: { name: 'chaos-pod', namespace: 'default' } }, { random, periodMs }),
    resources: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, chaosPodCrd],
    // When a pod is stopped is drawn anew each time.
    except: ['differs-from-undisturbed'],
    workload: keepPods,
    settled: async ({ client, clock }) => {
      for (const { metadata, spec } of (await client.list(ChaosPod, { namespace })).items) {
        await client.get(Pod, metadata);
        if (spec.nextStop === undefined) throw new Error(`${metadata.name} has no time at which it stops`);
        const lateMs = clock.now() - Date.parse(spec.nextStop);
        // The wall clock of a replica may be an hour off.
        if (lateMs > 2 * 3_600_000) throw new Error(`${metadata.name} was to be stopped ${lateMs / 1000} s ago`);
      }
    },
  };
}

async function keepPods({ client, random, sleep }: World): Promise<void> {
  for (let step = 0; step < 30; step++) {
    await sleep(random() * 30_000);
    const metadata = { namespace, name: `pod-${Math.floor(random() * 6)}` };
    if (random() < 0.3) await ignoreNotFound(client.delete(ChaosPod, metadata));
    else if ((await ignoreNotFound(client.get(ChaosPod, metadata))) === undefined) {
      const spec = { containers: [{ name: 'main', image: 'nginx' }] };
      await client.create(ChaosPod, { metadata, spec: { template: { spec } } });
    }
  }
}
