import { FakeClock } from '@kctl/wait/testing';
import type { Metrics } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import { leaderElectionCheck } from '../src/index.js';
import { startCandidate } from './candidate.js';
import { MemoryLockServer } from './memory-lock.js';

it('tells how old the last renewal is while it leads, and nothing before and after', async () => {
  const [server, clock] = [new MemoryLockServer(), new FakeClock()];
  await clock.advance(5_000);
  let isCut = false;
  const a = startCandidate(server, clock, 'a', {
    faults: { before: () => (isCut ? Promise.reject(new Error('cut')) : Promise.resolve()) },
  });
  expect(a.elector.renewedMsAgo).toBeUndefined();
  await clock.advance(0);
  expect(a.elector.renewedMsAgo).toBe(0);
  await clock.advance(1_500);
  expect(a.elector.renewedMsAgo).toBe(1_500);
  await clock.advance(1_000);
  expect(a.elector.renewedMsAgo).toBe(500);
  isCut = true;
  await clock.advance(5_000);
  expect(a.elector.renewedMsAgo).toBe(5_500);
  await clock.advance(60_000);
  expect([a.elector.isLeader, a.elector.renewedMsAgo]).toEqual([false, undefined]);
  await a.ended;
});

it.each([
  [true, ''],
  [false, 'a'],
])('gives the lease back at a stop if releaseOnCancel is %s', async (releaseOnCancel, holder) => {
  const [server, clock] = [new MemoryLockServer(), new FakeClock()];
  const a = startCandidate(server, clock, 'a', { releaseOnCancel });
  await clock.advance(3_000);
  await expect(a.elector.run(new AbortController().signal)).rejects.toThrow('already running');
  expect([a.elector.isLeader, server.record?.holderIdentity]).toEqual([true, 'a']);
  a.stop.abort();
  await clock.advance(1_000);
  expect(await a.ended).toBe('resolved');
  expect(server.record?.holderIdentity).toBe(holder);
});

it('can be run again after the work of its last run has ended late', async () => {
  const [server, clock] = [new MemoryLockServer(), new FakeClock()];
  const held = Promise.withResolvers<undefined>();
  const a = startCandidate(server, clock, 'a', { work: () => held.promise });
  await clock.advance(0);
  a.stop.abort();
  await clock.advance(20_000);
  expect(await a.ended).toBe('resolved');
  const stop = new AbortController();
  const again = a.elector.run(stop.signal);
  await clock.advance(30_000);
  expect(a.log.filter((line) => line === 'started')).toHaveLength(1);
  expect(() => a.elector.checkHealth()).toThrow('its work is still running');
  held.resolve(undefined);
  await clock.advance(20_000);
  expect(a.log.filter((line) => line === 'started')).toHaveLength(2);
  expect(() => a.elector.checkHealth()).not.toThrow();
  stop.abort();
  await clock.advance(1_000);
  await again;
});

describe('stepDown', () => {
  it('hands over to another candidate, whatever releaseOnCancel says, and runs again later', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const a = startCandidate(server, clock, 'a', { reelect: true, releaseOnCancel: false });
    await clock.advance(0);
    const b = startCandidate(server, clock, 'b');
    await clock.advance(3_000);
    let isDone = false;
    void a.elector.stepDown().then(() => (isDone = true));
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(0);
    expect(isDone).toBe(true);
    expect([a.elector.isLeader, server.record?.holderIdentity]).toEqual([false, '']);
    await clock.advance(2_000);
    expect(b.elector.isLeader).toBe(true);
    await clock.advance(14_000);
    b.stop.abort();
    await clock.advance(3_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.log.filter((line) => !line.startsWith('leader'))).toEqual(['started', 'work ended', 'stopped', 'started']);
    a.stop.abort();
    await clock.advance(20_000);
    expect(await a.ended).toBe('resolved');
  });

  it.each([Number.NaN, -1, '5', null])('refuses holdOffMs %s, and the term goes on', async (holdOffMs) => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const a = startCandidate(server, clock, 'a', { reelect: true });
    await clock.advance(0);
    await expect(a.elector.stepDown({ holdOffMs: holdOffMs as number })).rejects.toThrow('stepDown: holdOffMs');
    await clock.advance(20_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });

  it('ends the run without reelect, and does nothing without leadership', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const a = startCandidate(server, clock, 'a');
    await a.elector.stepDown();
    await clock.advance(0);
    const stepped = a.elector.stepDown();
    await clock.advance(0);
    await stepped;
    expect(await a.ended).toBe('resolved');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('health and metrics', () => {
  it('is unhealthy only while it believes that it leads with a lease that has expired', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    let stalledMs = 0;
    const stalling = {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow() + stalledMs,
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
    };
    const a = startCandidate(server, clock, 'a', { clock: stalling });
    const check = leaderElectionCheck(a.elector, 5_000);
    check();
    await clock.advance(1_000);
    check();
    stalledMs = 18_000;
    check();
    stalledMs = 21_000;
    expect(check).toThrow('failed election to renew leadership on lease default/test');
    await clock.advance(2_000);
    await a.ended;
    check();
  });

  it('reports the status from the start on', async () => {
    const values: [string, number][] = [];
    const family = (name: string) => {
      const one = { set: (value: number) => values.push([name, value]), inc: () => undefined, dec: () => undefined };
      return { ...one, observe: () => undefined, with: () => one, remove: () => undefined };
    };
    const metrics = {
      gauge: ({ name }: { name: string }) => family(name),
      counter: ({ name }: { name: string }) => family(name),
    } as unknown as Metrics;
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const a = startCandidate(server, clock, 'a', { metrics });
    await clock.advance(0);
    a.stop.abort();
    await clock.advance(0);
    await a.ended;
    expect(values).toEqual([0, 1, 0].map((value) => ['leader_election_master_status', value]));
  });
});
