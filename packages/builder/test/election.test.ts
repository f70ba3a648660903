import { defineKind } from '@kctl/apimachinery';
import { createApiServer } from '@kctl/apiserver';
import { createCache } from '@kctl/cache';
import { createHttpClient } from '@kctl/client-http';
import { createLeaderElector, createLeaseLock } from '@kctl/leader-election';
import { createCluster, createManager } from '@kctl/manager';
import { afterEach, describe, expect, it } from 'vitest';
import { controllerManagedBy } from '../src/index.js';

const ConfigMap = defineKind({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
const cleanups: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('two managers of one lease', () => {
  it('lets one of them reconcile, and the other take over at once when it stops', async () => {
    const server = createApiServer({});
    await server.start();
    cleanups.push(() => server.stop());
    const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
    const client = createHttpClient({ connection });
    cleanups.push(() => client[Symbol.asyncDispose]());
    const reconciled: string[] = [];
    const start = (identity: string) => {
      const cache = createCache({ client, byObject: [{ kind: ConfigMap }] });
      const lock = createLeaseLock({ client, namespace: 'default', name: 'operator', identity });
      const manager = createManager({
        cluster: createCluster({ client, apiReader: client, cache }),
        leaderElection: {
          newElector: ({ lead, reelect }) =>
            createLeaderElector({ lock, reelect, retryPeriodMs: 100, callbacks: { onStartedLeading: lead } }),
        },
      });
      controllerManagedBy(manager)
        .for(ConfigMap)
        .withOptions({ enableWarmup: true })
        .complete(async ({ name }) => void reconciled.push(`${identity} ${name}`));
      const stop = new AbortController();
      const done = manager.run(stop.signal);
      cleanups.push(() => {
        stop.abort();
        return done;
      });
      return { manager, stop, done };
    };
    const create = (name: string) =>
      client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
    const until = async (line: string): Promise<void> => {
      while (!reconciled.includes(line)) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const a = start('a');
    await a.manager.elected;
    const b = start('b');
    await create('one');
    await until('a one');
    expect(b.manager.isLeader).toBe(false);
    a.stop.abort();
    await a.done;
    const releasedAt = performance.now();
    await b.manager.elected;
    expect(performance.now() - releasedAt).toBeLessThan(3_000);
    await create('two');
    await until('b two');
    expect(reconciled.filter((line) => line.startsWith('a'))).toEqual(['a one']);
    expect(reconciled).toContain('b one');
  });
});
