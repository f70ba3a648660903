import { FakeClock } from '@kctl/wait/testing';
import { noopLogger, noopMetrics, type Logger, type Metrics } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import { isLeadershipLost } from '../src/index.js';
import { Elector } from '../src/leader-elector.js';
import { resolveLeaderElectorOptions } from '../src/options.js';
import { startCandidate, untilAborted } from './candidate.js';
import { MemoryLockServer } from './memory-lock.js';

const never = new Promise<never>(() => undefined);

function setUp(): [MemoryLockServer, FakeClock] {
  return [new MemoryLockServer(), new FakeClock()];
}

/** Metrics that count failed requests. */
function countingMetrics(): { readonly metrics: Metrics; readonly failures: () => number } {
  let failures = 0;
  const counter = { inc: () => void failures++, with: () => counter, remove: () => undefined };
  const metrics = {
    ...noopMetrics,
    counter: ({ name }: { name: string }) =>
      name === 'leader_election_request_failures_total' ? counter : noopMetrics.counter({ name, help: '' }),
  };
  return { metrics, failures: () => failures };
}

describe('a request that hangs', () => {
  it('is given up after half the renew deadline while it acquires, and repeated', async () => {
    const [server, clock] = setUp();
    let gets = 0;
    const { metrics, failures } = countingMetrics();
    const a = startCandidate(server, clock, 'a', {
      metrics,
      faults: { before: async (verb) => (verb === 'get' && ++gets === 1 ? never : undefined) },
    });
    await clock.advance(6_599);
    expect([gets, a.elector.isLeader]).toEqual([1, false]);
    await clock.advance(1); // 5 s, and a pause of 0.8 retry periods
    expect([gets, a.elector.isLeader, failures()]).toEqual([2, true, 1]);
    a.stop.abort();
    await clock.advance(0);
  });

  it('is given up after half the renew deadline while it renews, so that the next can extend the term', async () => {
    const [server, clock] = setUp();
    let updates = 0;
    const { metrics, failures } = countingMetrics();
    const a = startCandidate(server, clock, 'a', {
      metrics,
      faults: { before: async (verb) => (verb === 'update' && ++updates === 1 ? never : undefined) },
    });
    await clock.advance(6_999); // sent at 2 s
    expect([updates, failures()]).toEqual([1, 0]);
    await clock.advance(1);
    expect([updates, failures()]).toEqual([2, 1]);
    await clock.advance(9_999);
    expect([a.elector.isLeader, server.record?.holderIdentity]).toEqual([true, 'a']);
    a.stop.abort();
    await clock.advance(0);
  });

  it('ends with the term', async () => {
    const [server, clock] = setUp();
    let isHung = false;
    const ends: number[] = [];
    const a = startCandidate(server, clock, 'a', {
      faults: {
        before: (_verb, { signal }) =>
          isHung
            ? new Promise((_resolve, reject) =>
                signal?.addEventListener('abort', () => {
                  ends.push(clock.monotonicNow());
                  reject(signal.reason as Error);
                }),
              )
            : Promise.resolve(),
      },
    });
    await clock.advance(0);
    const at = clock.monotonicNow();
    isHung = true;
    await clock.advance(10_000);
    expect(ends.map((end) => end - at)).toEqual([7_000, 10_000]);
    expect(isLeadershipLost(await a.ended)).toBe(true);
  });
});

describe('failed requests', () => {
  it('are those of the server, not the ones that a stop ends', async () => {
    const [server, clock] = setUp();
    const { metrics, failures } = countingMetrics();
    const lines: string[] = [];
    const logger: Logger = { ...noopLogger, warn: (message) => void lines.push(message) };
    const a = startCandidate(server, clock, 'a', {
      metrics,
      logger,
      faults: {
        before: (_verb, { signal }) =>
          new Promise((_resolve, reject) =>
            signal?.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError'))),
          ),
      },
    });
    await clock.advance(1_000);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
    expect([failures(), lines]).toEqual([0, []]);
  });

  it('are counted if they abort without a stop', async () => {
    const [server, clock] = setUp();
    const { metrics, failures } = countingMetrics();
    const a = startCandidate(server, clock, 'a', {
      metrics,
      faults: { before: () => Promise.reject(new DOMException('a bug of the lock', 'AbortError')) },
    });
    await clock.advance(0);
    expect(failures()).toBe(1);
    a.stop.abort();
    await clock.advance(0);
    await a.ended;
  });
});

describe('an answer that comes late', () => {
  it.each([
    [9_999, true],
    [10_000, false],
  ])('by a stall of %i ms begins a term: %s', async (lateMs, leads) => {
    const [server, clock] = setUp();
    let stalledMs = 0;
    const stalling = {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow() + stalledMs,
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
    };
    const a = startCandidate(server, clock, 'a', {
      clock: stalling,
      faults: { after: async (verb) => void (stalledMs += verb === 'create' ? lateMs : 0) },
    });
    await clock.advance(0);
    expect(a.log.includes('started')).toBe(leads);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });
});

describe('a lease that may have been won while the run was stopped', () => {
  const stopWhileItWins = async (releaseOnCancel: boolean, isAbandoned: boolean): Promise<string | undefined> => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a', {
      releaseOnCancel,
      faults: { after: async (verb) => (verb === 'create' ? never : undefined) },
    });
    await clock.advance(100);
    if (isAbandoned) a.elector.abandon();
    else a.stop.abort();
    await clock.advance(20_000);
    expect(await a.ended).toBe('resolved');
    expect(clock.pendingTimers).toBe(0);
    return server.record?.holderIdentity;
  };

  it.each([
    [true, false, ''],
    [false, false, 'a'],
    [true, true, 'a'],
  ])('with releaseOnCancel %s, abandoned %s: is held by "%s"', async (releaseOnCancel, isAbandoned, holder) => {
    expect(await stopWhileItWins(releaseOnCancel, isAbandoned)).toBe(holder);
  });

  it('is tried to be given back for one retry period', async () => {
    const [server, clock] = setUp();
    let isStopping = false;
    const a = startCandidate(server, clock, 'a', {
      faults: {
        before: () => (isStopping ? never : Promise.resolve()),
        after: async (verb) => (verb === 'create' ? never : undefined),
      },
    });
    await clock.advance(100);
    isStopping = true;
    let isDone = false;
    void a.ended.then(() => (isDone = true));
    a.stop.abort();
    await clock.advance(1_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect([isDone, await a.ended]).toEqual([true, 'resolved']);
  });
});

describe('a term that its owner ends', () => {
  it.each(['stop', 'step down'])('by a %s is tried to be given back for at most the renew deadline', async (how) => {
    const [server, clock] = setUp();
    let isCut = false;
    const a = startCandidate(server, clock, 'a', {
      faults: { before: () => (isCut ? never : Promise.resolve()) },
    });
    await clock.advance(1_000);
    isCut = true;
    let isDone = false;
    void a.ended.then(() => (isDone = true));
    if (how === 'stop') a.stop.abort();
    else void a.elector.stepDown();
    await clock.advance(9_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect([isDone, await a.ended]).toEqual([true, 'resolved']);
    expect(server.record?.holderIdentity).toBe('a');
  });

  it('is not given back after work that took until its lease had all but expired', async () => {
    const [server, clock] = setUp();
    let isCut = false;
    const a = startCandidate(server, clock, 'a', {
      faults: { before: () => (isCut ? never : Promise.resolve()) },
      work: async (signal) => {
        await untilAborted(signal);
        isCut = true;
        await new Promise<void>((resolve) => clock.setTimer(resolve, 14_000));
      },
    });
    await clock.advance(0);
    a.stop.abort();
    let isDone = false;
    void a.ended.then(() => (isDone = true));
    await clock.advance(14_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect([isDone, server.record?.holderIdentity]).toEqual([true, 'a']);
  });

  it('runs again a lease duration later with reelect, if it does not say when', async () => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a', { reelect: true });
    await clock.advance(0);
    void a.elector.stepDown();
    await clock.advance(14_999);
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });
});

it('closes the fence at once and leaves the lease to expire if it is told that it has lost', async () => {
  const [server, clock] = setUp();
  const changes: number[] = [];
  const reasons: unknown[] = [];
  const elector = new Elector(
    resolveLeaderElectorOptions(
      {
        lock: server.lock('a'),
        clock,
        callbacks: {
          onStartedLeading: async (signal) => {
            await untilAborted(signal);
            reasons.push(signal.reason);
          },
        },
      },
      (openUntil) => changes.push(openUntil),
    ),
  );
  const start = clock.monotonicNow();
  const run = elector.run(new AbortController().signal).catch((error: unknown) => error);
  await clock.advance(2_000);
  expect(changes).toEqual([start + 10_000, start + 12_000]);
  const reason = new Error('the main thread is silent');
  elector.lose(reason);
  elector.lose(new Error('and later, too'));
  expect(changes.slice(2)).toEqual([0, 0]);
  const lost = await run;
  expect([isLeadershipLost(lost), (lost as Error).cause, reasons]).toEqual([true, reason, [reason]]);
  expect([changes.at(-1), server.record?.holderIdentity]).toEqual([0, 'a']);
});

it('has closed the fence for other threads before the work of a term ends', async () => {
  const [server, clock] = setUp();
  const changes: number[] = [];
  const end = Promise.withResolvers<undefined>();
  const elector = new Elector(
    resolveLeaderElectorOptions(
      { lock: server.lock('a'), clock, callbacks: { onStartedLeading: () => end.promise } },
      (openUntil) => changes.push(openUntil),
    ),
  );
  elector.lose(new Error('without a term'));
  expect(changes.splice(0)).toEqual([0]);
  const stop = new AbortController();
  const run = elector.run(stop.signal);
  await clock.advance(1_000);
  expect(changes).toEqual([10_000]);
  stop.abort();
  await clock.advance(0);
  expect(changes).toEqual([10_000, 0]);
  end.resolve(undefined);
  await clock.advance(0);
  await run;
});

it('fails with a clock that is broken, instead of asking again and again', async () => {
  const [server, clock] = setUp();
  server.overwrite({
    holderIdentity: 'b',
    leaseDurationSeconds: 15,
    acquireTime: '',
    renewTime: '',
    leaderTransitions: 0,
  });
  let isBroken = false;
  const a = startCandidate(server, clock, 'a', {
    clock: {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow(),
      setTimer: (callback, ms) => {
        if (isBroken) throw new Error('no timers');
        return clock.setTimer(callback, ms);
      },
    },
    faults: { after: async () => void (isBroken = true) },
  });
  await clock.advance(0);
  expect(await a.ended).toMatchObject({ message: 'no timers' });
  expect(server.requests).toEqual(['a get']);
});
