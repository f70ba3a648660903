import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger } from '../src/index.js';

const host = '127.0.0.1';

it('runs two managers in one process, alike to their controllers, and one outlives the other', async () => {
  await using environment = await createEnvironment();
  const { client, connection } = environment;
  const namespace = await environment.createNamespace('two');
  const start = async (name: string) => {
    const manager = await createManager({
      connection,
      logger: noopLogger,
      leaderElection: { name, namespace },
      metricsServer: { host, port: 0 },
      health: { host, port: 0 },
      cache: { defaultNamespaces: { [namespace]: {} } },
    });
    const seen: string[] = [];
    controllerManagedBy(manager)
      .for(ConfigMap)
      .named('same')
      .complete(async (request) => void seen.push(request.name));
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.elected;
    const reconciles = async (): Promise<number> => {
      const { body } = await manager.metrics.export();
      const [, count] = /controller_runtime_reconcile_total\{[^}]*result="success"[^}]*\} (\d+)/.exec(body) ?? [];
      return Number(count);
    };
    const end = (): Promise<void> => {
      stop.abort();
      return running;
    };
    return { seen, reconciles, end };
  };
  const create = (name: string) => client.create(ConfigMap, { metadata: { namespace, name } });
  const [one, two] = await Promise.all([start('one'), start('two')]);
  await create('both');
  await eventually(() => {
    expect(one.seen).toContain('both');
    expect(two.seen).toContain('both');
  });
  await one.end();
  const before = one.seen.length;
  await create('after');
  await eventually(async () => {
    expect(two.seen).toContain('after');
    expect(await two.reconciles()).toBe(two.seen.length);
  });
  expect(one.seen).toHaveLength(before);
  expect(await one.reconciles()).toBe(before);
  await two.end();
});
