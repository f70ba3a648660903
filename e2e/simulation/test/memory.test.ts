import { queryObjects } from 'node:v8';
import { simulate } from '@kctl/simulation';
import { expect, it } from 'vitest';
import { applicationOperator } from '../src/operators/application.js';

it('keeps nothing of a world that has ended, replicas that crashed included', async () => {
  const { workload, ...options } = applicationOperator(4);
  const servers: WeakRef<object>[] = [];
  await simulate({
    ...options,
    seeds: 2,
    simulatedMinutes: 5,
    quietMs: 60_000,
    faults: { crash: 60, restart: 30 },
    compare: false,
    verifyReplay: false,
    workload: async (world) => {
      servers.push(new WeakRef(world.server));
      await workload?.(world);
    },
  });
  queryObjects(Object, { format: 'count' }); // collects the whole heap first
  // Turns of the event loop that the last one has asked for may still hold that one.
  expect(servers.slice(0, -1).map((server) => server.deref() !== undefined)).toEqual([false]);
}, 120_000);
