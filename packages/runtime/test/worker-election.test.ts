import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createHttpClient, type Connection, type HttpClient } from '@kctl/client-http';
import { isNotLeader } from '@kctl/leader-election';
import { isLeaderElectionLostError } from '@kctl/manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManager, noopLogger, type RuntimeLeaderElectionOptions, type RuntimeManager } from '../src/index.js';

const namespace = 'default';
const durations = { leaseDurationMs: 2_000, renewDeadlineMs: 1_200, retryPeriodMs: 200 };
let server: ApiServerWorker;
let connection: Connection;
let live: HttpClient;

beforeAll(async () => {
  // In a thread of its own: these tests block theirs.
  server = await startApiServerWorker();
  connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  live = createHttpClient({ connection });
});

afterAll(async () => {
  await live[Symbol.asyncDispose]();
  await server.stop();
});

/** Blocks this thread, as a long computation does. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const managerWith = (name: string, options: Partial<RuntimeLeaderElectionOptions>): Promise<RuntimeManager> =>
  createManager({ connection, logger: noopLogger, leaderElection: { name, namespace, ...durations, ...options } });

describe("leaderElection.renewIn: 'worker'", () => {
  it('keeps the lease while the event loop is busy for longer than it lasts', async () => {
    const labels = { app: 'busy' };
    const manager = await managerWith('busy', { renewIn: 'worker', mainStallLimitMs: 10_000, labels });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.elected;
    const before = await live.get(Lease, { namespace, name: 'busy' });
    expect(before.metadata.labels).toEqual(labels);
    block(3_000);
    block(3_000);
    expect(manager.isLeader).toBe(true);
    await manager.client.create(ConfigMap, { metadata: { namespace, name: 'after-the-stall' } });
    const { spec } = await live.get(Lease, { namespace, name: 'busy' });
    expect(spec).toMatchObject({ holderIdentity: before.spec?.holderIdentity, acquireTime: before.spec?.acquireTime });
    stop.abort();
    await running;
    expect((await live.get(Lease, { namespace, name: 'busy' })).spec?.holderIdentity ?? '').toBe('');
  });

  it('refuses writes and ends the run when the event loop was busy for too long', async () => {
    const manager = await managerWith('silent', { renewIn: 'worker', mainStallLimitMs: 500 });
    const running = manager.run(new AbortController().signal).catch((error: unknown) => error);
    await manager.elected;
    block(1_500);
    const late = manager.client.create(ConfigMap, { metadata: { namespace, name: 'too-late' } });
    expect(isNotLeader(await late.catch((error: unknown) => error))).toBe(true);
    expect(isLeaderElectionLostError(await running)).toBe(true);
  });

  it('says what it cannot do', async () => {
    await expect(managerWith('x', { mainStallLimitMs: 500 })).rejects.toThrow("needs leaderElection.renewIn: 'worker'");
    const provider = { authorization: async () => 'Bearer x' };
    await expect(
      createManager({
        connection: { server: 'https://127.0.0.1:1', user: { provider } },
        logger: noopLogger,
        leaderElection: { name: 'x', namespace, renewIn: 'worker' },
      }),
    ).rejects.toThrow('connection.user.provider is a function of this one');
  });
});
