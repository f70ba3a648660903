import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import type { Client } from '@kctl/client';
import { createFakeRecorder } from '@kctl/events';
import { expect, it, vi } from 'vitest';
import { createElectionEvents } from '../src/election-events.js';
import { createManager, noopLogger } from '../src/index.js';

const durations = { leaseDurationMs: 3_000, renewDeadlineMs: 1_500, retryPeriodMs: 200 };

it.each(['main', 'worker'] as const)(
  'records on the lease who leads and who does no more, renewed in %s',
  {
    timeout: 300_000,
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

it.each([
  ['found', { metadata: { uid: 'u1' } }, 'u1'],
  ['not yet found', undefined, undefined],
])('tells that it stopped at once, in order, when the lease is %s', async (_name, found, uid) => {
  const recorder = createFakeRecorder();
  const answer = Promise.withResolvers<unknown>();
  const events = createElectionEvents({
    client: { get: (async () => answer.promise) as Client['get'] },
    recorder,
    lease: { namespace: 'default', name: 'widgets', identity: 'one' },
  });
  events.becameLeader();
  if (found !== undefined) {
    answer.resolve(found);
    await vi.waitFor(() => expect(recorder.events).toHaveLength(1));
  }
  events.stoppedLeading();
  expect(recorder.events.map(({ note, regarding }) => [note, regarding.uid])).toEqual([
    ['one became leader', uid],
    ['one stopped leading', uid],
  ]);
  // The answer that comes late says nothing twice.
  answer.resolve({ metadata: { uid: 'u2' } });
  await new Promise(setImmediate);
  expect(recorder.events).toHaveLength(2);
});
