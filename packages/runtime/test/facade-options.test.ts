import { createCache, type Cache } from '@kctl/cache';
import { createDelegatingClient, type DelegatingClient } from '@kctl/client-delegating';
import type { Connection } from '@kctl/client-http';
import { inject } from '@kctl/controller';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { LeaseCandidate } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1beta1';
import { createLeaseLock, type LeaderElector, type ResourceLock } from '@kctl/leader-election';
import { createEnvironment, eventually } from '@kctl/testing';
import { aborted } from '@kctl/wait';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { withCandidate } from '../src/coordinated-elector.js';
import { createManager, noopLogger, type LockParts, type RuntimeManagerOptions } from '../src/index.js';

const connection: Connection = { server: 'https://127.0.0.1:1', namespace: 'default' };
const make = <X extends object = object>(options: RuntimeManagerOptions<X>) =>
  createManager<X>({ connection, logger: noopLogger, ...options });

describe('createManager', () => {
  it('hands its options of events to the recorder', async () => {
    const seen: string[] = [];
    const manager = await make({ events: { burst: 1, onEvent: ({ reason }) => void seen.push(reason) } });
    const regarding = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a', uid: '1' } };
    manager.recorder('test').event(regarding, { type: 'Normal', reason: 'Seen', note: 'it was seen' });
    expect(seen).toEqual(['Seen']);
    await expect(make({ events: { burst: 0 } })).rejects.toThrow(/burst 0/);
    await expect(make({ events: { queue: 1 } as never })).rejects.toThrow(/unknown option "queue".*queueLimit/);
  });

  it('keeps the types of what can be injected: its parts, and what the user adds', async () => {
    interface Config {
      readonly region: string;
    }
    const config: Config = { region: 'west' };
    const manager = await make({ dependencies: { config } });
    expectTypeOf(manager.dependencies.config).toEqualTypeOf<Config>();
    let seen: unknown;
    manager.add(
      inject(
        { config: true, cache: true, client: true },
        (parts: { config: Config; cache: Cache; client: DelegatingClient }) => {
          seen = [parts.config.region, typeof parts.cache.addIndex, parts.client === manager.client];
          return { run: async () => undefined };
        },
      ),
    );
    expect(seen).toEqual(['west', 'function', true]);
    manager.add(
      inject({ connection: true }, (parts: { connection: Connection }) => {
        seen = parts.connection;
        return { run: async () => undefined };
      }),
    );
    expect(seen).toBe(manager.connection);
    // @ts-expect-error no such dependency
    expect(() => manager.add(inject({ no: true }, (_: { no: Date }) => ({ run: async () => undefined })))).toThrow(
      '"no"',
    );
  });

  it('makes cache and client as it is told, the client with writes that are fenced', async () => {
    const made: string[] = [];
    const manager = await make({
      newCache: (options) => {
        made.push(`cache with ${Object.keys(options).toSorted().join(', ')}`);
        return createCache(options);
      },
      newClient: (options) => {
        made.push(options.client === undefined ? 'client' : 'client over a client');
        return createDelegatingClient(options);
      },
    });
    expect(made).toEqual(['cache with client, clock, logger, metrics', 'client over a client']);
    expect(manager.dependencies.cache).toBe(manager.cache);
  });

  it.each([
    [{ metricServer: {} }, 'unknown option "metricServer": did you mean "metricsServer"?'],
    [{ leaderElecton: {} }, 'unknown option "leaderElecton": did you mean "leaderElection"?'],
    [{ health: { prt: 1, port: 0 } }, 'unknown option "health.prt": did you mean "port"?'],
    [{ cluster: {} }, 'unknown option "cluster"'],
    [{ http: { maxRetry: 1 } }, 'unknown option "http.maxRetry": did you mean "maxRetries"?'],
    [{ cache: { namespaces: {} } }, 'unknown option "cache.namespaces"'],
    [{ client: { readYourWrite: 'off' } }, 'unknown option "client.readYourWrite": did you mean "readYourWrites"?'],
    [{ webhook: { prot: 1 } }, 'unknown option "webhook.prot": did you mean "port"?'],
    [
      { webhook: { selfManagedCertificates: { secrets: {} } } },
      'unknown option "webhook.selfManagedCertificates.secrets": did you mean "secret"?',
    ],
    [
      { leaderElection: { name: 'x', coordinated: { version: '1.0.0', binaryversion: '1.0.0' } } },
      '"leaderElection.coordinated.binaryversion": did you mean "binaryVersion"?',
    ],
    [{ http: 5 }, 'http 5 is not valid: expected an object of options'],
    [{ webhook: { selfManagedCertificates: true } }, 'webhook.selfManagedCertificates true is not valid'],
    [
      { leaderElection: { name: 'x', leaseDuration: 1 } },
      '"leaderElection.leaseDuration": did you mean "leaseDurationMs"?',
    ],
  ])('names the option that is not known, and the nearest that is: %o', async (options, problem) => {
    await expect(make(options as object)).rejects.toThrow(problem);
  });

  it.each([{ name: undefined }, { name: '' }, {}, { name: 7 }])('needs a name for its lease: %o', async (lease) => {
    await expect(make({ leaderElection: lease as never })).rejects.toThrow('leaderElection.name must be configured');
  });

  it('takes an option that is set to undefined for one that is not set', async () => {
    const nothing = {
      webhookServer: undefined,
      gracefulShutdownTimeoutMs: undefined,
      health: undefined,
      metrics: undefined,
      leaderElection: undefined,
      http: { userAgent: undefined },
      dependencies: { logger: undefined, clock: undefined },
    } as object;
    const manager = await make(nothing);
    expect(manager.webhookServer).toBeDefined();
    expect(manager.dependencies.logger).toBe(noopLogger);
    expect(manager.dependencies.clock).toBe(manager.clock);
    const election = { name: 'x', onLost: undefined, identity: undefined, leaseDurationMs: undefined } as object;
    await expect(make({ leaderElection: election as never })).resolves.toBeDefined();
  });
});

describe('run', () => {
  it('refuses a second run, and what is not a signal, and takes the client away with the run that counts alone', async () => {
    const manager = await make({ http: { maxRetries: 0 } });
    const asked = (): Promise<string> =>
      manager.liveClient.get(Lease, { namespace: 'default', name: 'x' }).then(() => 'found', String);
    await expect(manager.run(undefined as never)).rejects.toThrow('manager.run');
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await expect(manager.run(stop.signal)).rejects.toThrow('manager already started');
    expect(await asked()).not.toContain('the client was disposed');
    stop.abort();
    await running;
    expect(await asked()).toContain('the client was disposed');
  });
});

/** The embedded server has no coordinated election: the test chooses, and the candidates are custom resources. */
const leaseCandidates: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'leasecandidates.coordination.k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    group: 'coordination.k8s.io',
    names: { plural: 'leasecandidates', kind: 'LeaseCandidate' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

describe('leaderElection', () => {
  it('makes its lock as it is told, with a client of its own', async () => {
    const locks: LockParts[] = [];
    const newLock = (parts: LockParts): ResourceLock => {
      locks.push(parts);
      return createLeaseLock({ ...parts.lease, client: parts.client });
    };
    const manager = await make({ leaderElection: { name: 'x', identity: 'me', labels: { a: 'b' }, newLock } });
    expect(locks[0]?.lease).toEqual({ namespace: 'default', name: 'x', identity: 'me', labels: { a: 'b' } });
    expect(locks[0]?.client).not.toBe(manager.liveClient);
    await expect(make({ leaderElection: { name: 'x', newLock, renewIn: 'worker' } })).rejects.toThrow(
      'leaderElection.newLock is a function of this thread',
    );
  });

  it('lets the server choose, and announces this process as long as it runs', async () => {
    await using environment = await createEnvironment({ server: 'embedded', crds: [leaseCandidates] });
    const { client: server } = environment;
    const manager = await make({
      connection: environment.connection,
      leaderElection: {
        name: 'chosen',
        namespace: 'default',
        retryPeriodMs: 100,
        coordinated: { binaryVersion: '1.4.0' },
      },
    });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    let identity = '';
    await eventually(async () => {
      const [candidate] = (await server.list(LeaseCandidate, { namespace: 'default' })).items;
      expect(candidate?.spec).toMatchObject({ leaseName: 'chosen', binaryVersion: '1.4.0' });
      identity = candidate?.metadata.name ?? '';
    });
    expect(manager.isLeader).toBe(false);
    await server.create(Lease, {
      metadata: { namespace: 'default', name: 'chosen' },
      spec: { holderIdentity: identity, leaseDurationSeconds: 15, strategy: 'OldestEmulationVersion' },
    });
    await manager.elected;
    expect([manager.isLeader, typeof manager.leaseAgeMs]).toEqual([true, 'number']);
    stop.abort();
    await running;
  });

  it.each([
    [{}, 'leaderElection.coordinated.binaryVersion is not set'],
    [{ binaryVersion: '' }, 'leaderElection.coordinated.binaryVersion is not set'],
    [{ binaryVersion: '1.4.0', strategy: 7 }, 'strategy is a value of type number'],
  ])('refuses the candidate %o of a coordinated election before anything runs', async (coordinated, problem) => {
    await expect(make({ leaderElection: { name: 'x', coordinated: coordinated as never } })).rejects.toThrow(problem);
  });

  it('ends the election of a process that cannot be announced', async () => {
    const elector = { run: (signal: AbortSignal) => aborted(signal) } as LeaderElector;
    const nameless = { identity: '' } as never;
    await expect(withCandidate(elector, nameless).run(new AbortController().signal)).rejects.toThrow(
      'runLeaseCandidate: namespace must not be empty',
    );
  });

  it('has a connection of its own where it is given one', async () => {
    const namespaces: string[] = [];
    await make({
      leaderElection: {
        name: 'x',
        connection: { server: 'https://127.0.0.1:2', namespace: 'elections' },
        newLock: ({ lease, client }) => {
          namespaces.push(lease.namespace);
          return createLeaseLock({ ...lease, client });
        },
      },
    });
    expect(namespaces).toEqual(['elections']);
  });
});
