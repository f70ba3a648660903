import { isConditionTrue } from '@kctl/apimachinery';
import { Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually, type TestEnvironment } from '@kctl/testing';
import { expect, it } from 'vitest';
import { rankOf } from '../src/children.js';
import { createTrainingOperator } from '../src/reconciler.js';
import { TrainingJob, trainingJobCrd } from '../src/training-job.js';

async function withOperator(environment: TestEnvironment, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const operator = await createTrainingOperator({ connection: environment.connection, logger: noopLogger });
  const running = operator.run(stop.signal);
  try {
    await work();
  } finally {
    stop.abort();
    await running;
  }
}

it('keeps a pod for each rank, replaces what fails, and tells when the gang is ready and when all is done', async () => {
  await using environment = await createEnvironment({ crds: [trainingJobCrd] });
  const { client } = environment;
  const namespace = await environment.createNamespace('training');
  const key = { namespace, name: 'resnet' };
  const job = (): Promise<Awaited<ReturnType<typeof client.get<typeof TrainingJob>>>> => client.get(TrainingJob, key);
  const setPhase = (name: string, phase: string, ready: boolean): Promise<unknown> =>
    client.status(Pod).patch(
      { namespace, name },
      {
        type: 'merge',
        body: { status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } },
      },
    );

  await withOperator(environment, async () => {
    await client.create(TrainingJob, { metadata: key, spec: { image: 'trainer:1', workers: 3 } });
    const pods = await eventually(
      async () => {
        const { items } = await client.list(Pod, { namespace });
        expect(items.map(rankOf).sort()).toEqual([0, 1, 2]);
        return items;
      },
      { timeoutMs: 20_000 },
    );
    expect(pods[0]?.spec?.containers[0]?.env).toContainEqual({ name: 'WORLD_SIZE', value: '3' });
    expect((await eventually(() => client.get(Service, key))).spec?.clusterIP).toBe('None');

    for (const { metadata } of pods) await setPhase(metadata.name ?? '', 'Running', true);
    await eventually(async () => expect(isConditionTrue((await job()).status?.conditions, 'GangReady')).toBe(true));

    await setPhase('resnet-1-0', 'Failed', false);
    await eventually(async () =>
      expect((await client.get(Pod, { namespace, name: 'resnet-1-1' })).metadata.uid).toBeDefined(),
    );
    await eventually(async () => expect(isConditionTrue((await job()).status?.conditions, 'GangReady')).toBe(false));

    for (const name of ['resnet-0-0', 'resnet-1-1', 'resnet-2-0']) await setPhase(name, 'Succeeded', false);
    await eventually(async () => {
      const { status } = await job();
      expect(isConditionTrue(status?.conditions, 'Complete')).toBe(true);
      expect(status).toMatchObject({ active: 0, succeeded: 3, failed: 1 });
    });
    expect((await client.list(Pod, { namespace })).items).toHaveLength(4);
  });
});

it('fails when more workers failed than may, and stops the others', async () => {
  await using environment = await createEnvironment({ crds: [trainingJobCrd] });
  const { client } = environment;
  const namespace = await environment.createNamespace('training');
  const key = { namespace, name: 'doomed' };
  await withOperator(environment, async () => {
    await client.create(TrainingJob, { metadata: key, spec: { image: 'trainer:1', workers: 2, backoffLimit: 0 } });
    await eventually(async () => expect((await client.list(Pod, { namespace })).items).toHaveLength(2), {
      timeoutMs: 20_000,
    });
    await client
      .status(Pod)
      .patch({ namespace, name: 'doomed-0-0' }, { type: 'merge', body: { status: { phase: 'Failed' } } });
    await eventually(async () => {
      const { status } = await client.get(TrainingJob, key);
      expect(isConditionTrue(status?.conditions, 'Failed')).toBe(true);
      expect(status?.active).toBe(0);
    });
    await eventually(async () => {
      const running = (await client.list(Pod, { namespace })).items.filter(
        ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase !== 'Failed',
      );
      expect(running).toEqual([]);
    });
  });
});
