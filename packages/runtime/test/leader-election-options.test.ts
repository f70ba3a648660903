import { hostname } from 'node:os';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createEnvironment } from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { createManager, noopLogger } from '../src/index.js';
import { electionRequests } from '../src/leadership.js';

const connection = { server: 'https://127.0.0.1:1' };

// controller-runtime's pkg/leaderelection and manager options: name, ours, upstream's.
describe('leader election options', () => {
  it.each([
    ['request timeout with the default deadline', electionRequests().requestTimeoutMs, 5_000],
    ['request timeout with a short deadline', electionRequests(1_500).requestTimeoutMs, 1_000],
    ['user agent ends in', electionRequests().userAgent?.split('/').at(-1), 'leader-election'],
  ])('%s: ours %s, upstream %s', (_name, ours, upstream) => {
    expect(ours).toBe(upstream);
  });

  it.each([
    [{ name: 'x' }, 'unable to find leader election namespace: not running in-cluster, please specify'],
    [{ name: '', namespace: 'default' }, 'leaderElection.name must be configured'],
    [{ name: 'x', namespace: 'default', mainStallLimitMs: 1 }, "needs leaderElection.renewIn: 'worker'"],
    [
      { name: 'x', namespace: 'default', leaseDurationMs: -5 },
      'leaseDurationMs must be a positive number of ms, not -5',
    ],
    [{ name: 'x', namespace: 'default', renewDeadlineMs: NaN }, 'renewDeadlineMs must be a positive number of ms'],
    [{ name: 'x', namespace: 'default', rejoinTimeoutMs: NaN }, 'leaderElection.rejoinTimeoutMs NaN is not valid'],
    [{ name: 'x', namespace: 'default', identity: '' }, 'identity must not be empty'],
    [{ name: 'x', namespace: 'default', renewIn: 'worker' as const, mainStallLimitMs: NaN }, 'mainStallLimitMs'],
  ])('refuses %o', async (leaderElection, message) => {
    await expect(createManager({ connection, logger: noopLogger, leaderElection })).rejects.toThrow(message);
  });

  it('competes as <hostname>_<uuid>, in the namespace of the connection, with its labels on the Lease', async () => {
    await using environment = await createEnvironment();
    const namespace = await environment.createNamespace('election');
    const manager = await createManager({
      connection: { ...environment.connection, namespace },
      logger: noopLogger,
      leaderElection: { name: 'widgets', labels: { team: 'blue' } },
    });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.elected;
    const { spec, metadata } = await environment.client.get(Lease, { namespace, name: 'widgets' });
    const [host, uuid] = (spec?.holderIdentity ?? '').split(/_(?=[^_]*$)/);
    expect([host, uuid]).toEqual([hostname(), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(spec?.leaseDurationSeconds).toBe(15);
    expect(metadata.labels).toEqual({ team: 'blue' });
    stop.abort();
    await running;
  });
});
