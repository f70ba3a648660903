import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { createManager, noopLogger } from '../src/index.js';

const durations = { leaseDurationMs: 3_000, renewDeadlineMs: 1_500, retryPeriodMs: 200 };

it.each(['main', 'worker'] as const)(
  'records on the lease who leads and who does no more, renewed in %s',
  {
    timeout: 30_000,
  },
  async (renewIn) => {
    await using environment = await createEnvironment({ server: 'embedded' });
    const { client: live, connection } = environment;
    const namespace = await environment.createNamespace('election-events');
    const manager = await createManager({
      connection,
      logger: noopLogger,
      leaderElection: { name: 'widgets', namespace, identity: 'one', renewIn, ...durations },
    });
    const notes = async (): Promise<(string | undefined)[]> =>
      (await live.list(Event, { namespace })).items.map(({ note }) => note).toSorted();
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await eventually(async () => expect(await notes()).toEqual(['one became leader']));
    const lease = await live.get(Lease, { namespace, name: 'widgets' });
    const [event] = (await live.list(Event, { namespace })).items;
    expect(event).toMatchObject({
      type: 'Normal',
      reason: 'LeaderElection',
      regarding: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        namespace,
        name: 'widgets',
        uid: lease.metadata.uid,
      },
    });
    stop.abort();
    await running;
    expect(await notes()).toEqual(['one became leader', 'one stopped leading']);
  },
);
