import { sleep } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it, vi } from 'vitest';
import { isLeadershipLost } from '../src/index.js';
import { startCandidate, untilAborted } from './candidate.js';
import { MemoryLockServer } from './memory-lock.js';

const never = new Promise<never>(() => undefined);

function setUp(): [MemoryLockServer, FakeClock] {
  return [new MemoryLockServer(), new FakeClock()];
}

describe('hazards of acquiring', () => {
  it('does not start work when the answer that won came after the deadline', async () => {
    const [server, clock] = setUp();
    let stalledMs = 0;
    const stalling = {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow() + stalledMs,
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
    };
    const answered = async (verb: string): Promise<void> => {
      if (verb === 'create') stalledMs = 60_000;
    };
    const a = startCandidate(server, clock, 'a', { clock: stalling, faults: { after: answered } });
    await clock.advance(0);
    expect(server.record?.holderIdentity).toBe('a');
    expect(a.log).not.toContain('started');
    await clock.advance(5_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.log.filter((line) => line === 'started')).toHaveLength(1);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });

  it('does not create a Lease that was deleted under a leader before that leader must have stopped', async () => {
    const [server, clock] = setUp();
    let partitioned = false;
    const cut = async (): Promise<void> => {
      if (partitioned) throw new Error('connection refused');
    };
    const a = startCandidate(server, clock, 'a', { faults: { before: cut } });
    await clock.advance(0);
    const b = startCandidate(server, clock, 'b');
    await clock.advance(4_000);
    partitioned = true;
    server.overwrite(undefined);
    for (let waited = 0; waited < 30_000 && !b.elector.isLeader; waited += 100) {
      await clock.advance(100);
      expect(a.elector.isLeader && b.elector.isLeader).toBe(false);
    }
    expect(b.elector.isLeader).toBe(true);
    b.stop.abort();
    await clock.advance(0);
  });

  it('sees renewals of a leader whose wall clock stands still', async () => {
    const [server, clock] = setUp();
    const frozen = {
      now: () => Date.UTC(2026, 0, 1),
      monotonicNow: () => clock.monotonicNow(),
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
    };
    const a = startCandidate(server, clock, 'a', { clock: frozen });
    await clock.advance(0);
    const b = startCandidate(server, clock, 'b');
    await clock.advance(40_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    a.stop.abort();
    b.stop.abort();
    await clock.advance(0);
  });

  it('treats the lease of another process with the same identity as held', async () => {
    const [server, clock] = setUp();
    const first = startCandidate(server, clock, 'a');
    await clock.advance(0);
    const second = startCandidate(server, clock, 'a');
    await clock.advance(20_000);
    expect([first.elector.isLeader, second.elector.isLeader]).toEqual([true, false]);
    second.stop.abort();
    await clock.advance(0);
    expect(server.record?.holderIdentity).toBe('a');
    first.stop.abort();
    await clock.advance(0);
    expect(server.record?.holderIdentity).toBe('');
  });

  it('takes over after a restart with the same identity once the old lease has expired', async () => {
    const [server, clock] = setUp();
    startCandidate(server, clock, 'a');
    await clock.advance(0);
    server.overwrite({ ...server.record!, acquireTime: '2020-01-01T00:00:00.000000Z' });
    const restarted = startCandidate(server, clock, 'a');
    await clock.advance(14_900);
    expect(restarted.elector.isLeader).toBe(false);
    await clock.advance(200);
    expect(restarted.elector.isLeader).toBe(true);
    restarted.stop.abort();
    await clock.advance(0);
  });

  it.each([0, -5, Number.NaN])('does not take a lease without a duration at once: %s', async (leaseDurationSeconds) => {
    const [server, clock] = setUp();
    server.overwrite({
      holderIdentity: 'other',
      leaseDurationSeconds,
      acquireTime: '',
      renewTime: '',
      leaderTransitions: 0,
    });
    const a = startCandidate(server, clock, 'a');
    await clock.advance(14_900);
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(200);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
  });

  it.each([
    [2 ** 31 - 1, 2 ** 31 - 1],
    [-1, 1],
    [Number.NaN, 1],
  ])('counts on from %s transitions by what a server takes', async (leaderTransitions, next) => {
    const [server, clock] = setUp();
    const nobody = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: '', renewTime: '' };
    server.overwrite({ ...nobody, leaderTransitions });
    const a = startCandidate(server, clock, 'a');
    await clock.advance(0);
    expect(server.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: next });
    a.stop.abort();
    await clock.advance(0);
  });

  it('gives back a lease that it got while it was being stopped', async () => {
    const [server, clock] = setUp();
    let lost = true;
    const a = startCandidate(server, clock, 'a', {
      faults: {
        after: async (verb) => {
          if (verb === 'create' && lost) await never;
        },
      },
    });
    await clock.advance(100);
    expect(server.record?.holderIdentity).toBe('a');
    lost = false;
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
    expect(server.record?.holderIdentity).toBe('');
    expect(a.log.at(-1)).toBe('never led');
  });

  it('writes nothing for an attempt that was given up, even if the lock answers later', async () => {
    const [server, clock] = setUp();
    let answer: (() => void) | undefined;
    const a = startCandidate(server, clock, 'a', {
      faults: {
        before: (verb) => (verb === 'get' ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve()),
      },
    });
    await clock.advance(100);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
    answer!();
    await clock.advance(100);
    expect(server.requests).toEqual(['a get']);
    expect(server.record).toBeUndefined();
  });

  it('fails over within leaseDuration + retryPeriod of the last renewal, whatever the jitter', async () => {
    for (const jitter of [0, 0.5, 0.999]) {
      const [server, clock] = setUp();
      const a = startCandidate(server, clock, 'a', { random: () => jitter });
      await clock.advance(0);
      const b = startCandidate(server, clock, 'b', { random: () => jitter });
      await clock.advance(10_001);
      // Killed: it renews no more, and says nothing.
      const killedAt = clock.monotonicNow();
      server.overwrite({ ...server.record!, holderIdentity: 'killed' });
      a.stop.abort();
      while (!b.elector.isLeader && clock.monotonicNow() - killedAt < 60_000) await clock.advance(10);
      expect(clock.monotonicNow() - killedAt).toBeLessThanOrEqual(17_000);
      b.stop.abort();
      await clock.advance(0);
    }
  });

  it('asks for a lease that another holds no more often than the bound of a failover needs', async () => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a');
    await clock.advance(0);
    const jitters = [0, 0.25, 0.5, 0.75, 0.999];
    let next = 0;
    const b = startCandidate(server, clock, 'b', { random: () => jitters[next++ % jitters.length]! });
    await clock.advance(600_000);
    const asked = server.requests.filter((request) => request === 'b get').length;
    expect(asked).toBeGreaterThan(600 / 2);
    expect(asked).toBeLessThanOrEqual(600 / 1.6 + 1);
    for (const { stop } of [a, b]) stop.abort();
    await clock.advance(0);
  });
});

describe('hazards of leading', () => {
  it('keeps leading when one renewal hangs and the next would succeed', async () => {
    const [server, clock] = setUp();
    let hang = false;
    const a = startCandidate(server, clock, 'a', { faults: { before: async () => (hang ? never : undefined) } });
    await clock.advance(1_000);
    hang = true;
    await clock.advance(2_000);
    hang = false;
    await clock.advance(20_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
  });

  it('counts from when a renewal was sent, not from when its answer came', async () => {
    const [server, clock] = setUp();
    let renewals = 0;
    const a = startCandidate(server, clock, 'a', {
      faults: {
        before: async (verb) => {
          if (verb === 'update' && ++renewals > 1) await never;
        },
        after: async (verb) => {
          if (verb === 'update') await sleep(4_000, { clock });
        },
      },
    });
    // Sent at 2 s, answered at 6 s, and the last one to arrive.
    await clock.advance(11_999);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    expect(isLeadershipLost(await a.ended)).toBe(true);
  });

  it('goes on when the answer of a renewal was lost', async () => {
    const [server, clock] = setUp();
    let lose = false;
    const a = startCandidate(server, clock, 'a', {
      faults: {
        after: async (verb) => {
          if (!lose || verb !== 'update') return;
          lose = false;
          throw new Error('socket hang up');
        },
      },
    });
    await clock.advance(1_000);
    lose = true;
    await clock.advance(1_000);
    expect(lose).toBe(false);
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.log).toEqual(['leader a', 'started']);
    a.stop.abort();
    await clock.advance(0);
  });

  it('stops leading when somebody blanked its lease', async () => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a');
    await clock.advance(100);
    server.overwrite({ ...server.record!, holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(2_000);
    expect(isLeadershipLost(await a.ended)).toBe(true);
    expect(server.record?.holderIdentity).toBe('');
  });

  it('writes a deleted Lease anew and leads on', async () => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a');
    await clock.advance(100);
    server.overwrite(undefined);
    await clock.advance(2_000);
    expect(server.record?.holderIdentity).toBe('a');
    await clock.advance(20_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
  });

  it('tells that it stopped also when the work failed', async () => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a', { work: () => Promise.reject(new Error('boom')) });
    await clock.advance(0);
    expect(await a.ended).toMatchObject({ message: 'boom' });
    expect(a.log.at(-1)).toBe('stopped');
  });

  it('survives a jump of the wall clock, either way', async () => {
    const [server, clock] = setUp();
    const a = startCandidate(server, clock, 'a');
    await clock.advance(0);
    const b = startCandidate(server, clock, 'b');
    for (const jump of [3_600_000, -7_200_000, 86_400_000]) {
      clock.setWallTime(clock.now() + jump);
      await clock.advance(20_000);
      expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    }
    a.stop.abort();
    b.stop.abort();
    await clock.advance(0);
  });
});

describe('hazards of stopping', () => {
  it('does not run again while the work of its last term goes on', async () => {
    const [server, clock] = setUp();
    let running = 0;
    let most = 0;
    const finish: (() => void)[] = [];
    let cut = false;
    const a = startCandidate(server, clock, 'a', {
      reelect: true,
      faults: { before: () => (cut ? Promise.reject(new Error('cut')) : Promise.resolve()) },
      work: async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => finish.push(resolve));
        running--;
      },
    });
    await clock.advance(0);
    cut = true;
    await clock.advance(16_000);
    cut = false;
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(false);
    expect(() => a.elector.checkHealth()).toThrow(/still/);
    // The lease expired 15 s after the renewal at 0, and 76 s have passed.
    expect(() => a.elector.checkHealth(60_999)).toThrow(/still/);
    expect(() => a.elector.checkHealth(61_000)).not.toThrow();
    finish[0]!();
    await clock.advance(20_000);
    expect(a.elector.isLeader).toBe(true);
    expect(most).toBe(1);
    a.stop.abort();
    finish[1]!();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });

  it('tries again to give the lock back when the first try fails, or its answer is lost', async () => {
    for (const fault of ['before', 'after'] as const) {
      const [server, clock] = setUp();
      let failures = 0;
      let stopping = false;
      const a = startCandidate(server, clock, 'a', {
        faults: {
          [fault]: async (verb: string) => {
            if (stopping && verb === 'update' && failures++ === 0) throw new Error('socket hang up');
          },
        },
      });
      await clock.advance(100);
      stopping = true;
      a.stop.abort();
      await clock.advance(1_000);
      expect(await a.ended).toBe('resolved');
      expect(server.record?.holderIdentity).toBe('');
    }
  });

  it('does not turn a conflict storm into a storm of requests', async () => {
    const [server, clock] = setUp();
    let storm = false;
    const a = startCandidate(server, clock, 'a', {
      faults: {
        before: async (verb) => {
          if (storm && verb === 'update') server.version++;
        },
      },
    });
    await clock.advance(100);
    storm = true;
    server.requests.length = 0;
    a.stop.abort();
    await clock.advance(60_000);
    expect(await a.ended).toBe('resolved');
    expect(server.requests.length).toBeLessThan(100);
  });

  it('leaves no timer and no listener behind', async () => {
    const [server, clock] = setUp();
    const stop = new AbortController();
    const added = vi.spyOn(stop.signal, 'addEventListener');
    const removed = vi.spyOn(stop.signal, 'removeEventListener');
    const { elector, stop: own } = startCandidate(server, clock, 'a', { work: untilAborted });
    own.abort();
    await clock.advance(0);
    const run = elector.run(stop.signal);
    await clock.advance(60_000);
    const pending = added.mock.calls.length - removed.mock.calls.length;
    expect(pending).toBeLessThan(5);
    stop.abort();
    await clock.advance(0);
    await run;
    expect(clock.pendingTimers).toBe(0);
  });
});
