import { createLeaderElector } from '@kctl/leader-election';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { Elector, Manager, ManagerOptions, Runnable } from '../src/index.js';
import { createManager, isStopTimeoutError } from '../src/index.js';
import { fakeCluster, FakeElector, untilAborted } from './fakes.js';
import { MemoryLease } from './memory-lock.js';

interface Replica {
  readonly manager: Manager;
  readonly stop: AbortController;
  readonly done: Promise<unknown>;
}

function replica(
  lease: MemoryLease,
  identity: string,
  { clock, ...options }: Partial<ManagerOptions> & { readonly clock: FakeClock },
): Replica {
  const manager = createManager({
    cluster: fakeCluster(),
    clock,
    leaderElection: {
      newElector: ({ lead, reelect }) =>
        createLeaderElector({ lock: lease.lock(identity), clock, reelect, callbacks: { onStartedLeading: lead } }),
    },
    ...options,
  });
  const stop = new AbortController();
  const done = manager.run(stop.signal).catch((error: unknown) => error);
  return { manager, stop, done };
}

/** Ignores its signal until the test lets it end. */
function stuck(rest: Partial<Runnable> = {}) {
  const end = Promise.withResolvers<undefined>();
  return { end: () => end.resolve(undefined), runnable: { name: 'stuck', run: () => end.promise, ...rest } };
}

describe.each([0, 5_000])('a stop with a grace period of %s ms and work that does not end', (grace) => {
  it.each([
    ['the leader', {}],
    ['a runnable without leadership', { needLeaderElection: false }],
    ['one that cannot say what it is doing', { inFlight: 5 as never }],
  ])('leaves the lease of %s to expire, and lets another lead only then', async (_, rest) => {
    const clock = new FakeClock();
    const lease = new MemoryLease();
    const first = replica(lease, 'a', { clock, gracefulShutdownTimeoutMs: grace });
    first.manager.add(stuck(rest).runnable);
    await clock.advance(0);
    await first.manager.elected;
    first.stop.abort();
    await clock.advance(grace);
    const renewedAt = clock.monotonicNow();
    const outcome = await first.done;
    expect(grace === 0 ? outcome === undefined : isStopTimeoutError(outcome)).toBe(true);
    expect(first.manager.isLeader).toBe(false);
    expect(lease.holder).toBe('a');
    expect(clock.pendingTimers).toBe(0); // nothing of the manager keeps the process alive
    const second = replica(lease, 'b', { clock });
    await clock.advance(14_000);
    expect(second.manager.isLeader).toBe(false);
    await clock.advance(2_000);
    await second.manager.elected;
    expect(clock.monotonicNow() - renewedAt).toBeGreaterThanOrEqual(15_000);
    second.stop.abort();
    await clock.advance(0);
    await second.done;
  });

  it('gives the lease back at once when nothing is left', async () => {
    const clock = new FakeClock();
    const lease = new MemoryLease();
    const { manager, stop, done } = replica(lease, 'a', { clock, gracefulShutdownTimeoutMs: grace });
    manager.add({ run: untilAborted });
    await clock.advance(0);
    await manager.elected;
    stop.abort();
    expect(await done).toBeUndefined();
    expect(lease.holder).toBe('');
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not tell an elector that cannot be abandoned that the work has ended, before it has', async () => {
    const clock = new FakeClock();
    const electors: FakeElector[] = [];
    const newElector = (request: ConstructorParameters<typeof FakeElector>[0]): Elector => {
      const elector = new FakeElector(request);
      electors.push(elector);
      return elector;
    };
    const manager = createManager({
      cluster: fakeCluster(),
      clock,
      gracefulShutdownTimeoutMs: grace,
      leaderElection: { newElector },
    });
    const work = stuck();
    manager.add(work.runnable);
    const stop = new AbortController();
    const done = manager.run(stop.signal).catch((error: unknown) => error);
    await settle();
    electors[0]?.win();
    await manager.elected;
    stop.abort();
    await clock.advance(grace);
    await done;
    expect(electors[0]?.held).toBe(true);
    work.end();
    await settle();
    expect(electors[0]?.held).toBe(false);
  });
});

it('waits for work that outlived a loss before it competes again', async () => {
  const clock = new FakeClock();
  const lease = new MemoryLease();
  const { manager, done } = replica(lease, 'a', {
    clock,
    leaderElection: {
      onLost: 'rejoin',
      rejoinTimeoutMs: 60_000,
      newElector: ({ lead, reelect }) =>
        createLeaderElector({ lock: lease.lock('a'), clock, reelect, callbacks: { onStartedLeading: lead } }),
    },
  });
  let [starts, running] = [0, 0];
  const ends: (() => void)[] = [];
  manager.add({
    run: async () => {
      starts++;
      expect(++running).toBe(1);
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
    },
  });
  await clock.advance(0);
  lease.outage = new Error('connection refused');
  await clock.advance(30_000);
  lease.outage = undefined;
  await clock.advance(20_000);
  expect([starts, manager.isLeader]).toEqual([1, false]);
  ends[0]?.();
  await clock.advance(20_000);
  expect([starts, manager.isLeader]).toEqual([2, true]);
  void done;
});
