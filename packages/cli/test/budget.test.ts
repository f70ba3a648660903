// The PodDisruptionBudget that is generated, under the disruption controller and the eviction of a real API server:
// KCTL_TEST_SERVER=real. The embedded server has no such controller.
import { spawn } from 'node:child_process';
import { Deployment, ReplicaSet } from '@kctl/apimachinery/kinds/apps/v1';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { PodDisruptionBudget } from '@kctl/apimachinery/kinds/policy/v1';
import { evict } from '@kctl/client/operations';
import { createEnvironment, eventually, findBinaries, type TestEnvironment } from '@kctl/testing';
import { expect, it } from 'vitest';
import { budgetOf } from '../src/manifests/manager.js';

const isReal = process.env['KCTL_TEST_SERVER'] === 'real';
const labels = { 'app.kubernetes.io/name': 'websites' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'websites' }] } };

/** Replicas of a Deployment with its budget; there is no kubelet: the test says which are ready. */
async function deploy(environment: TestEnvironment, ready: readonly boolean[]): Promise<readonly string[]> {
  const { client } = environment;
  const namespace = await environment.createNamespace('budget');
  const graph = { name: 'websites', namespace } as Parameters<typeof budgetOf>[0]['graph'];
  const budget = budgetOf({ graph, image: 'websites', version: '1.0.0' }) as Parameters<
    typeof client.create<typeof PodDisruptionBudget>
  >[1];
  await client.create(PodDisruptionBudget, budget);
  const spec = { replicas: ready.length, selector: { matchLabels: labels }, template };
  await client.create(Deployment, { metadata: { namespace, name: 'websites' }, spec });
  const pods = await eventually(async () => {
    const { items } = await client.list(Pod, { namespace });
    expect(items).toHaveLength(ready.length);
    expect((await client.list(ReplicaSet, { namespace })).items[0]?.status?.replicas).toBe(ready.length);
    return items;
  });
  for (const [index, { metadata }] of pods.entries()) {
    const conditions = [{ type: 'Ready', status: ready[index] === true ? 'True' : 'False' }];
    const status = { phase: 'Running', conditions };
    await client.status(Pod).patch(metadata, { type: 'strategic', body: { status } });
  }
  await eventually(async () => {
    const { metadata, status } = await client.get(PodDisruptionBudget, { namespace, name: 'websites' });
    expect(status).toMatchObject({
      observedGeneration: metadata.generation,
      expectedPods: ready.length,
      currentHealthy: ready.filter(Boolean).length,
    });
  });
  return pods.map(({ metadata }) => `${namespace}/${metadata.name}`);
}

/** Those that make pods of a Deployment and count them for a budget: the environment has none. */
async function startWorkloadControllers({ kubeconfigPath }: TestEnvironment): Promise<AsyncDisposable> {
  const { kubeControllerManager = '' } = await findBinaries({ controllerManager: true });
  const controllers = ['deployment', 'replicaset', 'disruption'].map((name) => `${name}-controller`);
  const flags = ['--leader-elect=false', '--secure-port=0', `--controllers=${controllers.join(',')}`];
  const child = spawn(kubeControllerManager, [`--kubeconfig=${kubeconfigPath}`, ...flags], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}

const keyOf = (pod: string): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = pod.split('/');
  return { namespace, name };
};

it.skipIf(!isReal)(
  'lets one replica go at a time, the only one as well, and one that is not ready in any case',
  async () => {
    await using environment = await createEnvironment({ controllerManager: true });
    await using _workloads = await startWorkloadControllers(environment);
    const { client } = environment;
    const [first = '', second = ''] = await deploy(environment, [true, true]);
    await evict(client, keyOf(first));
    await eventually(async () => {
      const { namespace } = keyOf(first);
      const { status } = await client.get(PodDisruptionBudget, { namespace, name: 'websites' });
      expect(status?.disruptionsAllowed).toBe(0);
    });
    // The one that the ReplicaSet makes anew is not ready: the other has to stay.
    await expect(evict(client, keyOf(second))).rejects.toMatchObject({ status: { code: 429 } });

    const [only = ''] = await deploy(environment, [true]);
    await evict(client, keyOf(only));

    const [broken = '', healthy = ''] = await deploy(environment, [false, true]);
    await evict(client, keyOf(broken));
    await expect(evict(client, keyOf(healthy))).rejects.toMatchObject({ status: { code: 429 } });
  },
  120_000,
);
