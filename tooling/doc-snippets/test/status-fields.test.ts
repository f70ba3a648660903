// The schema of a status by convention, and the conditions of a reconciler's context, on a server.
import { isInvalid, type Condition } from '@kctl/apimachinery';
import { applyPatch } from '@kctl/client';
import { defineResource } from '@kctl/crd';
import { statusFields } from '@kctl/crd/zod';
import { controllerManagedBy, createManager, noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';

const Job = defineResource({
  group: 'example.com',
  kind: 'Job',
  versions: {
    v1: {
      spec: z.object({ steps: z.int32() }),
      status: z.object({ ...statusFields(), planned: z.int32().optional() }),
    },
  },
});

it('holds what a reconciler reports, and the condition of another owner', async () => {
  await using environment = await createEnvironment({ crds: [Job] });
  const { client } = environment;
  const manager = await createManager({ connection: environment.connection, logger: noopLogger });
  controllerManagedBy(manager)
    .for(Job)
    .reconcile(async ({ metadata: { generation }, spec: { steps }, status }, { condition }) => {
      const others = (status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
      const ready = condition('Ready', steps > 0, 'Planned', `${steps} steps`);
      return { status: { observedGeneration: generation, planned: steps, conditions: [...others, ready] } };
    });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const key = { namespace: await environment.createNamespace(), name: 'import' };
  await client.create(Job, { metadata: key, spec: { steps: 3 } });
  const reported = async (generation: number) =>
    await eventually(async () => {
      const job = await client.get(Job, key);
      expect(job.status?.observedGeneration).toBe(generation);
      return job;
    });
  const job = await reported(1);
  const ready = { type: 'Ready', status: 'True', reason: 'Planned', observedGeneration: 1 };
  expect(job.status).toMatchObject({ planned: 3, conditions: [{ ...ready, message: '3 steps' }] });

  const paid: Condition = {
    type: 'Paid',
    status: 'True',
    reason: 'Invoice',
    message: '',
    lastTransitionTime: '2026-01-02T03:04:05Z',
  };
  await client.status(Job).patch(key, applyPatch({ status: { conditions: [paid] } }), { fieldOwner: 'billing' });
  await client.patch(Job, key, { type: 'merge', body: { spec: { steps: 4 } } });
  const changed = await reported(2);
  expect(changed.status?.conditions?.map(({ type }) => type).sort()).toEqual(['Paid', 'Ready']);
  stop.abort();
  await running;

  for (const status of [{ observedGeneration: -1 }, { observedGeneration: 0.5 }, { conditions: [paid, paid] }]) {
    const refused: unknown = await client
      .status(Job)
      .update({ ...changed, metadata: { ...key, resourceVersion: changed.metadata.resourceVersion }, status })
      .catch((error: unknown) => error);
    expect(isInvalid(refused), JSON.stringify(status)).toBe(true);
  }
});

it('is the schema that controller-gen writes', () => {
  const schema: unknown = Job.manifest.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['status'];
  expect(schema).toMatchObject({
    properties: {
      observedGeneration: { type: 'integer', format: 'int64' },
      conditions: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
    },
  });
  expect(schema).not.toHaveProperty('required');
});
