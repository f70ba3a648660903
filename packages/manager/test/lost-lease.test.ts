import { createLeaderElector, type Fence } from '@kctl/leader-election';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ElectorRequest, ManagerOptions, OnLost } from '../src/index.js';
import { createManager, isLeaderElectionLostError } from '../src/index.js';
import { fakeCluster, FakeElector, journaled, untilAborted } from './fakes.js';
import type { Journal } from './fakes.js';
import { MemoryLease } from './memory-lock.js';

function setUp(onLost: OnLost, lease = new MemoryLease(), identity = 'a', clock = new FakeClock()) {
  const journal: Journal = [];
  const manager = createManager({
    cluster: fakeCluster(),
    clock,
    leaderElection: {
      onLost,
      newElector: ({ lead, reelect }) =>
        createLeaderElector({ lock: lease.lock(identity), clock, reelect, callbacks: { onStartedLeading: lead } }),
    },
  });
  manager.add(journaled(journal, 'leader'));
  manager.add(journaled(journal, 'other', { needLeaderElection: false }));
  manager.add(journaled(journal, 'webhook', { group: 'webhooks' }));
  const stop = new AbortController();
  let isOver = false;
  const done = manager
    .run(stop.signal)
    .catch((error: unknown) => error)
    .finally(() => (isOver = true));
  return { clock, lease, journal, manager, stop, done, isOver: () => isOver };
}

const theft = {
  holderIdentity: 'thief',
  leaseDurationSeconds: 15,
  acquireTime: 'x',
  renewTime: 'x',
  leaderTransitions: 9,
};

describe('a lease that is lost because the API server does not answer', () => {
  it.each(['rejoin', 'rejoin-after-outage'] as const)('with %s costs the leader work alone', async (onLost) => {
    const t = setUp(onLost);
    await t.clock.advance(0);
    await t.manager.elected;
    t.journal.length = 0;
    t.lease.outage = new Error('connection refused');
    await t.clock.advance(60_000);
    expect(t.journal).toEqual(['stop leader']);
    expect([t.isOver(), t.manager.isLeader]).toEqual([false, false]);
    t.lease.outage = undefined;
    await t.clock.advance(20_000);
    expect(t.journal).toEqual(['stop leader', 'start leader']);
    expect(t.manager.isLeader).toBe(true);
    t.stop.abort();
    await t.clock.advance(0);
    expect(await t.done).toBeUndefined();
    expect(t.lease.holder).toBe('');
  });

  it('leaves one leader of three, and ends none of them', async () => {
    const [clock, lease] = [new FakeClock(), new MemoryLease()];
    const replicas = ['a', 'b', 'c'].map((name) => setUp('rejoin-after-outage', lease, name, clock));
    await clock.advance(5_000);
    const leaders = (): number => replicas.filter(({ manager }) => manager.isLeader).length;
    expect(leaders()).toBe(1);
    lease.outage = new Error('connection refused');
    await clock.advance(60_000);
    expect(leaders()).toBe(0);
    lease.outage = undefined;
    await clock.advance(30_000);
    expect(leaders()).toBe(1);
    expect(replicas.map(({ isOver }) => isOver())).toEqual([false, false, false]);
    const running = replicas.map(({ journal }) => journal.at(-1) === 'start leader');
    expect(running).toEqual(replicas.map(({ manager }) => manager.isLeader));
    for (const { stop } of replicas) stop.abort();
    await clock.advance(0);
    await Promise.all(replicas.map(({ done }) => done));
  });

  it("with exit ends the manager, which is controller-runtime's way", async () => {
    const t = setUp('exit');
    await t.clock.advance(0);
    t.lease.outage = new Error('connection refused');
    await t.clock.advance(12_000);
    expect(isLeaderElectionLostError(await t.done)).toBe(true);
  });
});

describe('leader work that fails when its lease is lost', () => {
  const boom = new Error('boom');
  it.each<[string, (signal: AbortSignal, fence: Fence) => Promise<unknown>, boolean]>([
    [
      'as a write that the fence aborts',
      (_signal, fence) =>
        new Promise((_resolve, reject) => {
          const term = fence.signal;
          term?.addEventListener('abort', () => reject(term.reason as Error), { once: true });
        }),
      false,
    ],
    [
      'as a write that the fence refuses',
      async (signal, fence) => untilAborted(signal).then(() => fence.check()),
      false,
    ],
    [
      'with a message of its own',
      async (signal) => {
        await untilAborted(signal);
        throw new Error('sweep of demo failed', { cause: signal.reason });
      },
      false,
    ],
    [
      'for a reason of its own, which ends the manager',
      async (signal) => {
        await untilAborted(signal);
        throw boom;
      },
      true,
    ],
  ])('%s', async (_how, work, ends) => {
    const [clock, lease] = [new FakeClock(), new MemoryLease()];
    let fence: Fence | undefined;
    let starts = 0;
    const manager = createManager({
      cluster: fakeCluster(),
      clock,
      leaderElection: {
        onLost: 'rejoin-after-outage',
        newElector: ({ lead, reelect }) =>
          createLeaderElector({
            lock: lease.lock('a'),
            clock,
            reelect,
            callbacks: {
              onStartedLeading: (signal, given) => {
                fence = given;
                return lead(signal);
              },
            },
          }),
      },
    });
    manager.add(async (signal) => {
      starts++;
      if (starts === 1 && fence !== undefined) await work(signal, fence);
      else await untilAborted(signal);
    });
    const stop = new AbortController();
    let outcome: unknown = 'runs';
    const done = manager.run(stop.signal).then(
      () => (outcome = 'ended'),
      (error: unknown) => (outcome = error),
    );
    await clock.advance(0);
    lease.outage = new Error('connection refused');
    await clock.advance(60_000);
    lease.outage = undefined;
    await clock.advance(20_000);
    if (ends) expect(outcome).toMatchObject({ cause: boom });
    else expect([outcome, starts, manager.isLeader]).toEqual(['runs', 2, true]);
    stop.abort();
    await clock.advance(0);
    await done;
  });
});

describe('a lease that another took', () => {
  it.each([
    ['exit', true],
    ['rejoin-after-outage', true],
    ['rejoin', false],
  ] as const)('with %s ends the manager: %s', async (onLost, ends) => {
    const t = setUp(onLost);
    await t.clock.advance(0);
    t.lease.overwrite(theft);
    await t.clock.advance(3_000);
    expect(t.isOver()).toBe(ends);
    if (ends) expect(isLeaderElectionLostError(await t.done)).toBe(true);
    expect(t.manager.isLeader).toBe(false);
    t.stop.abort();
    await t.clock.advance(0);
    await t.done;
    expect(t.lease.holder).toBe('thief');
  });
});

it("asks the elector's clock whether it leads", async () => {
  const electors: (FakeElector & { isLeader?: boolean })[] = [];
  const manager = createManager({
    cluster: fakeCluster(),
    leaderElection: {
      newElector: (request) => {
        const elector = Object.assign(new FakeElector(request), { isLeader: true });
        electors.push(elector);
        return elector;
      },
    },
  });
  const stop = new AbortController();
  const done = manager.run(stop.signal);
  await settle();
  electors[0]?.win();
  await manager.elected;
  expect(manager.isLeader).toBe(true);
  if (electors[0] !== undefined) electors[0].isLeader = false; // a stall: nothing was told yet
  expect(manager.isLeader).toBe(false);
  stop.abort();
  await done;
});

describe('Manager.elected', () => {
  it('rejects with the failure of the run', async () => {
    const manager = createManager({ cluster: fakeCluster() });
    manager.add({ name: 'broken', group: 'servers', run: () => Promise.reject(new Error('port taken')) });
    const { elected } = manager;
    const failure = await manager.run(new AbortController().signal).catch((error: unknown) => error);
    expect(await elected.catch((error: unknown) => error)).toBe(failure);
  });

  it('rejects when the elector cannot be made', async () => {
    const newElector = (): never => {
      throw new RangeError('renewDeadlineMs');
    };
    const manager = createManager({ cluster: fakeCluster(), leaderElection: { newElector } });
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('renewDeadlineMs');
    await expect(manager.elected).rejects.toThrow('renewDeadlineMs');
  });

  it('does not resolve for a start that the loss of the lease has ended, but for the next one', async () => {
    let elector: FakeElector | undefined;
    const newElector = (request: ElectorRequest): FakeElector => (elector = new FakeElector(request));
    const manager = createManager({ cluster: fakeCluster(), leaderElection: { newElector, onLost: 'rejoin' } });
    let isReady = false;
    manager.add({
      run: untilAborted,
      waitForReady: async (signal) => {
        if (!isReady) await untilAborted(signal);
      },
    });
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await settle();
    let isElected = false;
    const elected = manager.elected.then(() => (isElected = true));
    elector?.win();
    await settle();
    elector?.lose();
    await settle();
    expect([manager.isLeader, isElected]).toEqual([false, false]);
    isReady = true;
    elector?.win();
    await elected;
    expect(manager.isLeader).toBe(true);
    stop.abort();
    await done;
  });

  it('rejects when the elector ends by itself: nobody would lead, and nothing would say so', async () => {
    const manager = createManager({
      cluster: fakeCluster(),
      leaderElection: { newElector: () => ({ run: () => Promise.resolve() }), onLost: 'rejoin' },
    });
    const failure = await manager.run(new AbortController().signal).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'KCTL_LEADER_ELECTION_LOST',
      cause: { message: 'the elector has ended, although it was not stopped' },
    });
    await expect(manager.elected).rejects.toBe(failure);
  });

  it('rejects when the manager stops before', async () => {
    const options: ManagerOptions = {
      cluster: fakeCluster(),
      leaderElection: { newElector: (request) => new FakeElector(request) },
    };
    const manager = createManager(options);
    const stop = new AbortController();
    const done = manager.run(stop.signal);
    await settle();
    stop.abort();
    await done;
    await expect(manager.elected).rejects.toThrow('stopped without having been elected');
  });
});

it("leaves nothing on the caller's signal", async () => {
  const stop = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = stop.signal;
  stop.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(stop.signal, args);
  };
  stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(stop.signal, args);
  };
  const manager = createManager({ cluster: fakeCluster() });
  manager.add({ name: 'broken', run: () => Promise.reject(new Error('boom')) });
  await expect(manager.run(stop.signal)).rejects.toThrow('boom');
  expect(listeners).toBe(0);
});
