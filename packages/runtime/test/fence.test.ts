import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { channelSource, createController, createEventChannel, enqueueRequestsFromMapFunc } from '@kctl/controller';
import { isNotLeader } from '@kctl/leader-election';
import { isLeaderElectionLostError } from '@kctl/manager';
import { createEnvironment, eventually } from '@kctl/testing';
import { aborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { createManager, noopLogger } from '../src/index.js';

const durations = { leaseDurationMs: 3_000, renewDeadlineMs: 1_500, retryPeriodMs: 200 };

it('refuses writes from the moment the lease is lost, even of code that ignores its signal', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client: live, connection } = environment;
  const namespace = await environment.createNamespace('fence');
  const manager = await createManager({
    connection,
    logger: noopLogger,
    leaderElection: { name: 'fence', namespace, ...durations },
  });
  const outcomes: unknown[] = [];
  let lost = false;
  const write = (name: string): Promise<void> =>
    manager.client.create(ConfigMap, { metadata: { namespace, name } }).then(
      () => void outcomes.push(name),
      (error: unknown) => void outcomes.push(isNotLeader(error) ? 'refused' : error),
    );
  manager.add(async (signal) => {
    await write('while-leading');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    lost = true;
    await write('after-loss'); // pays no attention to the signal
  });
  await write('before-leading'); // runnables that need no leadership may write
  const running = manager.run(new AbortController().signal).catch((error: unknown) => error);
  await eventually(() => expect(outcomes).toContain('while-leading'));

  const lease = await live.get(Lease, { namespace, name: 'fence' });
  await live.patch(
    Lease,
    { namespace, name: 'fence' },
    { type: 'merge', body: { spec: { ...lease.spec, holderIdentity: 'thief', leaseDurationSeconds: 60 } } },
  );

  expect(isLeaderElectionLostError(await running)).toBe(true);
  await eventually(() => expect(lost).toBe(true));
  await eventually(() => expect(outcomes).toEqual(['before-leading', 'while-leading', 'refused']));
  const written = (await live.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata.name);
  expect(written).not.toContain('after-loss');
});

it('gives the lease back after a clean stop and refuses writes from then on', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const namespace = await environment.createNamespace('fence');
  const manager = await createManager({
    connection: environment.connection,
    logger: noopLogger,
    leaderElection: { name: 'fence', namespace, ...durations },
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  stop.abort();
  await running;
  const lease = await environment.client.get(Lease, { namespace, name: 'fence' });
  expect(lease.spec?.holderIdentity ?? '').toBe('');
  const late = await manager.client
    .create(ConfigMap, { metadata: { namespace, name: 'late' } })
    .catch((error: unknown) => error);
  expect(isNotLeader(late)).toBe(true);
});

it('fences the writes of each scope by its own lease, also of what was added later', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client: live, connection } = environment;
  const namespace = await environment.createNamespace('fence');
  const manager = await createManager({
    connection,
    logger: noopLogger,
    leaderElection: { name: 'fence', namespace, onLost: 'rejoin', ...durations },
  });
  const written: string[] = [];
  const write = (name: string): Promise<string> =>
    manager.client.create(ConfigMap, { metadata: { namespace, generateName: name } }).then(
      () => 'written',
      (error: unknown) => (isNotLeader(error) ? 'refused' : String(error)),
    );
  const writer = (name: string, leaderElectionScope: string) => ({
    name,
    leaderElectionScope,
    run: async (signal: AbortSignal) => {
      written.push(`${name} ${await write(name)}`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      written.push(`${name} after its loss ${await write(name)}`);
    },
  });
  manager.add(writer('main', ''));
  manager.add(writer('early', 'east'));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await eventually(() => expect(written.toSorted()).toEqual(['early written', 'main written']));
  manager.add(writer('late', 'east'));
  await eventually(() => expect(written).toContain('late written'));

  const thief = { type: 'merge', body: { spec: { holderIdentity: 'thief', leaseDurationSeconds: 60 } } } as const;
  await live.patch(Lease, { namespace, name: 'fence-east' }, thief);
  await eventually(() =>
    expect(written.slice(3).toSorted()).toEqual(['early after its loss refused', 'late after its loss refused']),
  );
  expect(manager.isLeader).toBe(true);
  stop.abort();
  await running;
  expect(written.at(-1)).toBe('main after its loss written'); // it was told to stop as the leader
});

it('fences leader code alone where the manager outlives the loss', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client: live, connection } = environment;
  const namespace = await environment.createNamespace('fence');
  const manager = await createManager({
    connection,
    logger: noopLogger,
    leaderElection: { name: 'fence', namespace, onLost: 'rejoin', ...durations },
  });
  const write = (): Promise<string> =>
    manager.client.create(ConfigMap, { metadata: { namespace, generateName: 'x' } }).then(
      () => 'written',
      (error: unknown) => (isNotLeader(error) ? 'refused' : String(error)),
    );
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let lost = 0;
  const outcomes: string[] = [];
  const written = Promise.withResolvers<undefined>();
  manager.add({
    name: 'leader',
    run: async (signal) => {
      await aborted(signal);
      lost++;
      outcomes.push(`leader ${await write()}`);
      written.resolve(undefined);
    },
  });
  manager.add({
    name: 'other',
    needLeaderElection: false,
    run: async (signal) => {
      await written.promise;
      for (let round = 0; round < 3; round++) outcomes.push(`other ${await write()}`);
      await aborted(signal);
    },
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  const thief = { type: 'merge', body: { spec: { holderIdentity: 'thief', leaseDurationSeconds: 60 } } } as const;
  await live.patch(Lease, { namespace, name: 'fence' }, thief);
  await eventually(() =>
    expect(outcomes).toEqual(['leader refused', 'other written', 'other written', 'other written']),
  );
  expect([lost, manager.isLeader]).toEqual([1, false]);
  stop.abort();
  await running;
  expect(await write()).toBe('refused');
});

it('fences reconciles that a resume from elsewhere has begun', async () => {
  await using environment = await createEnvironment({ server: 'embedded' });
  const { client: live, connection } = environment;
  const namespace = await environment.createNamespace('fence');
  const manager = await createManager({
    connection,
    logger: noopLogger,
    leaderElection: { name: 'fence', namespace, onLost: 'rejoin', ...durations },
  });
  const outcomes: string[] = [];
  const controller = createController<{ readonly name: string }>({
    name: 'paused',
    reconciler: async (_request, { signal }) => {
      await aborted(signal);
      const written = manager.client.create(ConfigMap, { metadata: { namespace, generateName: 'x' } });
      outcomes.push(
        await written.then(
          () => 'written',
          (error: unknown) => (isNotLeader(error) ? 'refused' : String(error)),
        ),
      );
    },
  });
  const events = createEventChannel<string>();
  const handler = enqueueRequestsFromMapFunc((name: string) => [{ name }]);
  controller.watch(channelSource({ name: 'events', events, handler }));
  manager.add(controller);
  manager.pause();
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  events.send('a');
  await eventually(() => expect(controller.queueLength).toBe(1));
  manager.resume();
  await eventually(() => expect(controller.inFlight).toEqual(['a']));
  const thief = { type: 'merge', body: { spec: { holderIdentity: 'thief', leaseDurationSeconds: 60 } } } as const;
  await live.patch(Lease, { namespace, name: 'fence' }, thief);
  await eventually(() => expect(outcomes).toEqual(['refused']));
  stop.abort();
  await running;
});
