import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type Connection } from '@kctl/client-http';
import type { Logger } from '@kctl/telemetry';
import { eventually } from '@kctl/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger } from '../src/index.js';

const host = '127.0.0.1';
const namespace = 'default';
const durations = { leaseDurationMs: 3_000, renewDeadlineMs: 1_500, retryPeriodMs: 200 };
const downMs = 8_000;
let server: ApiServerWorker;
let connection: Connection;

beforeAll(async () => {
  server = await startApiServerWorker();
  connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
});

afterAll(async () => {
  await server.stop();
});

/** A replica as users have it: a controller, something that needs no leadership, probes. */
async function startReplica(identity: string) {
  const addresses: { readonly port: number }[] = [];
  const logger: Logger = {
    ...noopLogger,
    info: (message, fields) => {
      if (message === 'Starting server') addresses.push(fields?.['addr'] as { port: number });
    },
    child: () => logger,
  };
  const manager = await createManager({
    connection,
    logger,
    health: { host, port: 0 },
    cache: { defaultNamespaces: { [namespace]: {} } },
    leaderElection: { name: 'outage', namespace, identity, ...durations },
  });
  const reconciled: string[] = [];
  controllerManagedBy(manager)
    .for(ConfigMap)
    .complete(async ({ name }) => void reconciled.push(name));
  let ticks = 0;
  manager.add({
    name: 'other',
    needLeaderElection: false,
    run: async (signal) => {
      while (!signal.aborted) {
        ticks++;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  });
  const stop = new AbortController();
  let outcome: unknown = 'running';
  const running = manager.run(stop.signal).then(
    () => (outcome = 'ended'),
    (error: unknown) => (outcome = error),
  );
  manager.elected.catch(() => undefined);
  const probe = async (path: string): Promise<number> =>
    (await fetch(`http://${host}:${addresses[0]?.port ?? 0}${path}`)).status;
  await eventually(async () => expect(await probe('/readyz')).toBe(200));
  return {
    manager,
    reconciled,
    probe,
    ticks: () => ticks,
    outcome: () => outcome,
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

it('outlives an outage of the API server: no exit, probes well, one leader afterwards, no list', {
  timeout: 90_000,
}, async () => {
  await using client = createHttpClient({ connection });
  const replicas = await Promise.all(['a', 'b', 'c'].map(startReplica));
  const leaders = (): number => replicas.filter(({ manager }) => manager.isLeader).length;
  await eventually(() => expect(leaders()).toBe(1));
  await client.create(ConfigMap, { metadata: { namespace, name: 'before' } });
  await eventually(() => expect(replicas.some(({ reconciled }) => reconciled.includes('before'))).toBe(true));
  await server.clearJournal();

  const outage = server.faults.failover({ downMs });
  await eventually(() => expect(leaders()).toBe(0), { timeoutMs: downMs });
  const ticksThen = replicas.map(({ ticks }) => ticks());
  for (const { probe } of replicas) expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
  await outage;

  await eventually(() => expect(leaders()).toBe(1), { timeoutMs: 20_000 });
  expect(replicas.map(({ outcome }) => outcome())).toEqual(['running', 'running', 'running']);
  expect(replicas.every(({ ticks }, index) => ticks() > (ticksThen[index] ?? 0))).toBe(true);
  await client.create(ConfigMap, { metadata: { namespace, name: 'after' } });
  await eventually(
    () => {
      const seen = replicas.filter(({ reconciled }) => reconciled.includes('after'));
      expect(seen.map(({ manager }) => manager.isLeader)).toEqual([true]);
    },
    { timeoutMs: 40_000 },
  ); // a watch may be waiting for its next attempt

  for (const { probe } of replicas) expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
  // Watches go on from where they were: three replicas that list at once would be the next outage.
  const lists = (await server.journal()).filter(
    (entry) =>
      entry.type === 'request' &&
      entry.resource === 'configmaps' &&
      (entry.verb === 'list' || entry.target.includes('sendInitialEvents=true')),
  );
  expect(lists).toEqual([]);
  await Promise.all(replicas.map(({ end }) => end()));
});
