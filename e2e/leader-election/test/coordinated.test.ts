import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { LeaseCandidate } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1beta1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { createLeaderElector, createLeaseLock, runLeaseCandidate, type Lease } from '@kctl/leader-election';
import { leaseKind } from '@kctl/leader-election/internal';
import { createConsoleLogger, noopLogger } from '@kctl/telemetry';
import { eventually, type RealApiServer } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// The server elects, so this needs kube-apiserver with the feature switched on; the embedded one has no such controller.
describe.skipIf(process.env['KCTL_TEST_SERVER'] !== 'real')('coordinated election on kube-apiserver', () => {
  const name = 'coordinated';
  const durations = { leaseDurationMs: 4_000, renewDeadlineMs: 2_500, retryPeriodMs: 500 };
  const patience = { timeoutMs: 60_000 };
  const logger = createConsoleLogger({ format: 'text' });
  const all: Candidate[] = [];
  let server: RealApiServer;
  let client: HttpClient;
  let namespace: string;

  beforeAll(async () => {
    server = await startRealApiServer({
      logger: noopLogger,
      apiServerFlags: [
        '--feature-gates=CoordinatedLeaderElection=true',
        '--runtime-config=coordination.k8s.io/v1beta1=true',
      ],
    });
    client = createHttpClient({
      connection: { server: server.url, ca: server.caPem, user: { token: server.adminToken } },
    });
    const { metadata } = await client.create(Namespace, { metadata: { generateName: 'coordinated-' } });
    namespace = metadata.name ?? '';
  }, 120_000);

  afterAll(async () => {
    await Promise.all(all.map((candidate) => candidate.stop()));
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  interface Candidate {
    readonly isLeader: boolean;
    stop(): Promise<unknown>;
  }

  /** How many lead now, by their own callbacks. */
  let leading = 0;
  let mostLeading = 0;

  function start(identity: string, version: string): Candidate {
    const stop = new AbortController();
    const elector = createLeaderElector({
      ...durations,
      coordinated: true,
      reelect: true,
      logger,
      lock: createLeaseLock({ client, namespace, name, identity }),
      callbacks: {
        onStartedLeading: async (signal) => {
          mostLeading = Math.max(mostLeading, ++leading);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          leading--;
        },
      },
    });
    const announced = { client, namespace, identity, leaseName: name, binaryVersion: version, logger };
    const done = Promise.all([runLeaseCandidate(announced, stop.signal), elector.run(stop.signal)]);
    const candidate = {
      get isLeader() {
        return elector.isLeader;
      },
      stop() {
        stop.abort();
        return done;
      },
    };
    all.push(candidate);
    return candidate;
  }

  const lease = (): Promise<Lease> => client.get(leaseKind, { namespace, name });

  it('leads when the server says so, renews, makes way for a better one, and takes over again', {
    timeout: 300_000,
  }, async () => {
    const b = start('b', '1.31.0');
    const a = start('a', '1.30.0');
    await eventually(() => expect([a.isLeader, b.isLeader]).toEqual([true, false]), patience);
    const first = await lease();
    expect(first.spec).toMatchObject({ holderIdentity: 'a', strategy: 'OldestEmulationVersion' });

    // Longer than the server's own lease of 5 s: it is our renewals that keep it.
    await eventually(async () => {
      const { spec } = await lease();
      const keptMs = Date.parse(spec?.renewTime ?? '') - Date.parse(first.spec?.renewTime ?? '');
      expect(keptMs).toBeGreaterThan(8_000);
    }, patience);
    expect((await lease()).spec).toMatchObject({
      holderIdentity: 'a',
      leaseTransitions: first.spec?.leaseTransitions ?? 0,
    });
    expect(a.isLeader).toBe(true);

    // An older one is preferred: the server marks the lease, the holder lets it lapse.
    const c = start('c', '1.29.0');
    await eventually(() => expect([a.isLeader, c.isLeader]).toEqual([false, true]), patience);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'c' });
    expect((await lease()).spec?.preferredHolder ?? '').toBe('');

    // Gone, and silent when the server pings it: the next one is chosen.
    await c.stop();
    await eventually(() => expect(a.isLeader).toBe(true), patience);
    expect(mostLeading).toBe(1);
    const candidates = await client.list(LeaseCandidate, { namespace });
    expect(candidates.items.map(({ metadata }) => metadata.name).sort()).toEqual(['a', 'b', 'c']);
  });
});
