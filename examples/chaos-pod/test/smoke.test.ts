import { controllerOf } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { ChaosPod, chaosPodCrd } from '../src/chaos-pod.js';
import { createChaos } from '../src/reconciler.js';

it('stops the pod when its time has come and brings it back', async () => {
  await using environment = await createEnvironment({ crds: [chaosPodCrd] });
  const { client, connection } = environment;
  const namespace = await environment.createNamespace('chaos');
  const key = { namespace, name: 'victim' };
  const stop = new AbortController();
  const manager = await createChaos({ connection, logger: noopLogger }, { random: () => 0, periodMs: 1_000 });
  const running = manager.run(stop.signal);
  try {
    await client.create(ChaosPod, {
      metadata: key,
      spec: { template: { spec: { containers: [{ name: 'web', image: 'web:1' }] } } },
    });
    const first = await eventually(() => client.get(Pod, key), { timeoutMs: 20_000 });
    expect(controllerOf(first)?.kind).toBe('ChaosPod');
    expect(first.spec?.containers[0]?.image).toBe('web:1');
    const second = await eventually(async () => {
      const pod = await client.get(Pod, key);
      expect(pod.metadata.uid).not.toBe(first.metadata.uid);
      return pod;
    });
    await eventually(async () => expect((await client.get(Pod, key)).metadata.uid).not.toBe(second.metadata.uid));
    await eventually(async () => expect((await client.get(ChaosPod, key)).status?.runs ?? 0).toBeGreaterThanOrEqual(3));
    await client.delete(ChaosPod, key);
    await eventually(
      async () =>
        expect(
          (await client.list(Pod, { namespace })).items.filter(
            ({ metadata }) => metadata.deletionTimestamp === undefined,
          ),
        ).toEqual([]),
      { timeoutMs: 60_000 },
    );
  } finally {
    stop.abort();
    await running;
  }
});
