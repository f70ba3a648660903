import { StatusError } from '@kctl/apimachinery';
import { noopLogger, noopMetrics, type Metrics } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { isLeadershipLost } from './errors.js';
import type { Fence } from './fence.js';
import { createLeaderElector, type LeaderElector } from './leader-elector.js';
import type { LeaderElectorOptions } from './options.js';
import type { LeaderElectionRecord, ObservedRecord, ResourceLock } from './record.js';

/** One record that several in-memory locks compete for, with optimistic concurrency. */
class Server {
  record: LeaderElectionRecord | undefined;
  version = 0;
  down = false;

  lock(identity: string): ResourceLock {
    let seen = -1;
    const observe = (): ObservedRecord => {
      seen = this.version;
      return { record: this.record!, fingerprint: `${this.version}` };
    };
    const requireUp = async (): Promise<void> => {
      if (this.down) throw new Error('connection refused');
    };
    return {
      identity,
      description: 'lease default/test',
      get: async () => {
        await requireUp();
        return this.record === undefined ? undefined : observe();
      },
      create: async (record) => {
        await requireUp();
        if (this.record !== undefined) throw new StatusError({ reason: 'AlreadyExists', code: 409 });
        this.record = record;
        this.version++;
        return observe();
      },
      update: async (record) => {
        await requireUp();
        if (seen !== this.version) throw new StatusError({ reason: 'Conflict', code: 409 });
        this.record = record;
        this.version++;
        return observe();
      },
    };
  }
}

interface Candidate {
  readonly elector: LeaderElector;
  readonly log: string[];
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

function candidate(
  server: Server,
  clock: FakeClock,
  identity: string,
  options: Partial<LeaderElectorOptions> & { work?: (signal: AbortSignal) => Promise<void> } = {},
): Candidate {
  const log: string[] = [];
  const stop = new AbortController();
  const { work, ...rest } = options;
  const untilAborted = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const elector = createLeaderElector({
    lock: server.lock(identity),
    clock,
    random: () => 0,
    callbacks: {
      onStartedLeading: async (signal) => {
        log.push('started');
        await (work ?? untilAborted)(signal);
        log.push('work ended');
      },
      onStoppedLeading: ({ led }) => log.push(led ? 'stopped' : 'never led'),
      onNewLeader: (leader) => log.push(`leader ${leader}`),
    },
    ...rest,
  });
  const ended = elector.run(stop.signal).then(
    () => 'resolved',
    (error: unknown) => error,
  );
  return { elector, log, stop, ended };
}

describe('LeaderElector', () => {
  it('creates the lock, leads, and gives it back when stopped', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    await clock.advance(0);
    expect(a.elector.isLeader).toBe(true);
    expect(server.record).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaderTransitions: 0 });
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
    expect(a.log).toEqual(['leader a', 'started', 'work ended', 'leader ', 'stopped']);
    expect(server.record).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('renews each retry period and keeps acquireTime and transitions', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    await clock.advance(0);
    const { acquireTime } = server.record!;
    await clock.advance(20_000);
    expect(server.version).toBe(11);
    expect(server.record).toMatchObject({ acquireTime, leaderTransitions: 0 });
    expect(server.record!.renewTime).not.toBe(acquireTime);
    a.stop.abort();
    await clock.advance(0);
    await a.ended;
  });

  it('waits a whole lease duration after first seeing a record, even an old one', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    server.record = {
      holderIdentity: 'gone',
      leaseDurationSeconds: 15,
      acquireTime: '2020-01-01T00:00:00.000000Z',
      renewTime: '2020-01-01T00:00:00.000000Z',
      leaderTransitions: 3,
    };
    const a = candidate(server, clock, 'a');
    await clock.advance(14_000);
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(2_000);
    expect(a.elector.isLeader).toBe(true);
    expect(server.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 4 });
    a.stop.abort();
    await clock.advance(0);
  });

  it('stops leading at the renew deadline, and nobody else leads before', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const a = candidate(server, clock, 'a');
    await clock.advance(0);
    const b = candidate(server, clock, 'b');
    await clock.advance(4_000);
    server.down = true;
    await clock.advance(9_999);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    expect(isLeadershipLost(await a.ended)).toBe(true);
    expect(a.log).toEqual(['leader a', 'started', 'work ended', 'stopped']);
    server.down = false;
    for (let waited = 0; waited < 20_000 && !b.elector.isLeader; waited += 100) await clock.advance(100);
    expect(b.elector.isLeader).toBe(true);
    b.stop.abort();
    await clock.advance(0);
  });

  it('is not leader straight after a stall, before any timer could fire', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    let stalledMs = 0;
    const stalling = {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow() + stalledMs,
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
    };
    const a = candidate(server, clock, 'a', { clock: stalling });
    await clock.advance(0);
    expect(a.elector.fence.isOpen).toBe(true);
    stalledMs = 60_000;
    expect(a.elector.isLeader).toBe(false);
    expect(() => a.elector.fence.check()).toThrow(/does not hold lease default\/test/);
    await clock.advance(2_000);
    expect(isLeadershipLost(await a.ended)).toBe(true);
  });

  it('releases only after the work has ended', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    let finish: (() => void) | undefined;
    const a = candidate(server, clock, 'a', { work: () => new Promise<void>((resolve) => (finish = resolve)) });
    await clock.advance(0);
    a.stop.abort();
    await clock.advance(1_000);
    expect(server.record!.holderIdentity).toBe('a');
    expect(a.elector.isLeader).toBe(false);
    finish!();
    await clock.advance(0);
    expect(server.record!.holderIdentity).toBe('');
    expect(await a.ended).toBe('resolved');
  });

  it('leaves the lease to expire when the work does not end', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const a = candidate(server, clock, 'a', { work: () => new Promise<void>(() => undefined) });
    await clock.advance(0);
    a.stop.abort();
    await clock.advance(15_000);
    expect(await a.ended).toBe('resolved');
    expect(server.record!.holderIdentity).toBe('a');
  });

  it('does not blank the lease of somebody else on release', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    let finish: (() => void) | undefined;
    const a = candidate(server, clock, 'a', { work: () => new Promise<void>((resolve) => (finish = resolve)) });
    await clock.advance(0);
    a.stop.abort();
    server.record = { ...server.record!, holderIdentity: 'b' };
    server.version++;
    finish!();
    await clock.advance(0);
    await a.ended;
    expect(server.record.holderIdentity).toBe('b');
  });

  it('runs for re-election after a loss when asked to', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const a = candidate(server, clock, 'a', { reelect: true });
    await clock.advance(0);
    server.down = true;
    await clock.advance(11_000);
    expect(a.log).toEqual(['leader a', 'started', 'work ended', 'stopped']);
    server.down = false;
    await clock.advance(4_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });

  it('rejects with the failure of the work and gives the lock back', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const a = candidate(server, clock, 'a', { work: () => Promise.reject(new Error('boom')) });
    await clock.advance(0);
    expect(await a.ended).toMatchObject({ message: 'boom' });
    expect(server.record!.holderIdentity).toBe('');
  });

  it('tells that it never led when stopped as a candidate', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    server.record = {
      holderIdentity: 'other',
      leaseDurationSeconds: 15,
      acquireTime: '',
      renewTime: '',
      leaderTransitions: 0,
    };
    const a = candidate(server, clock, 'a');
    await clock.advance(1_000);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
    expect(a.log).toEqual(['leader other', 'never led']);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [9_999, true],
    [10_000, false],
  ])('leads %i ms after its last renewal was sent: %s, whatever timers do', async (stallMs, leads) => {
    const [server, clock] = [new Server(), new FakeClock()];
    await clock.advance(100_000);
    let stalledMs = 0;
    const stalling = {
      now: () => clock.now(),
      monotonicNow: () => clock.monotonicNow() + stalledMs,
      setTimer: (callback: () => void, ms: number) => clock.setTimer(callback, ms),
    };
    const given: [AbortSignal, Fence][] = [];
    const a = candidate(server, clock, 'a', {
      clock: stalling,
      callbacks: { onStartedLeading: (...term) => void given.push(term) },
    });
    expect([a.elector.leader, a.elector.fence.signal]).toEqual(['', undefined]);
    await clock.advance(0);
    const [[signal, fence]] = given as [[AbortSignal, Fence]];
    expect([a.elector.leader, a.elector.fence.signal, fence.signal]).toEqual(['a', signal, signal]);
    stalledMs = stallMs;
    expect([a.elector.isLeader, fence.isOpen, a.elector.fence.isOpen]).toEqual([leads, leads, leads]);
    stalledMs = 15_000;
    expect(() => a.elector.checkHealth()).not.toThrow();
    stalledMs = 15_001;
    expect(() => a.elector.checkHealth(1)).not.toThrow();
    expect(() => a.elector.checkHealth()).toThrow('the lease expired 1 ms ago');
    await clock.advance(2_000);
    expect(await a.ended).toMatchObject({
      cause: { message: 'no renewal succeeded for 17001 ms (renewDeadlineMs 10000)' },
    });
  });

  it('gives up on work when its lease expires, and waits for it before the next run', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    await clock.advance(100_000);
    const end = Promise.withResolvers<undefined>();
    const a = candidate(server, clock, 'a', { work: () => end.promise.then(() => undefined) });
    let hasEnded = false;
    void a.ended.then(() => (hasEnded = true));
    await clock.advance(5_000); // renewed at 4 s
    let hasSteppedDown = false;
    void a.elector.stepDown().then(() => (hasSteppedDown = true));
    await clock.advance(13_999);
    expect([hasEnded, hasSteppedDown]).toEqual([false, false]);
    await clock.advance(1);
    expect([hasEnded, hasSteppedDown]).toEqual([true, true]);
    for (let each = 0; each < 2; each++) {
      const stop = new AbortController();
      const run = a.elector.run(stop.signal);
      await clock.advance(1_000);
      stop.abort();
      await run;
      expect(() => a.elector.checkHealth()).toThrow('its work is still running');
    }
    expect(a.log.filter((line) => line === 'started')).toHaveLength(1);
    end.resolve(undefined);
  });

  it('logs what it does, as client-go does', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const lines: string[] = [];
    const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
    const logger = { ...noopLogger, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    const taken = (): string[] => lines.splice(0);
    let work = (signal: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const a = candidate(server, clock, 'a', { reelect: true, logger, work: (signal) => work(signal) });
    await clock.advance(2_000);
    expect(taken()).toEqual(['info attempting to acquire leader lease', 'info successfully acquired lease']);
    server.down = true;
    await clock.advance(11_000);
    const warning = 'failed to acquire or renew the lease';
    expect(taken()).toEqual([
      `warn ${warning}`,
      ...Array(3).fill(`debug ${warning} again`),
      'warn leadership lost, running for re-election',
      'info attempting to acquire leader lease',
      `debug ${warning} again`,
    ]);
    server.down = false;
    work = async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new Error('cannot stop');
    };
    await clock.advance(10_000);
    expect(taken()).toEqual(['info requests for the lease succeed again', 'info successfully acquired lease']);
    work = () => new Promise(() => undefined);
    void a.elector.stepDown({ holdOffMs: 0 });
    await clock.advance(0);
    expect(taken()).toEqual([
      'warn the work failed while it was being stopped',
      'info released the lease',
      'info attempting to acquire leader lease',
      'info successfully acquired lease',
    ]);
    server.down = true;
    a.stop.abort();
    await clock.advance(15_000);
    expect(taken()).toEqual(['error work goes on after leadership ended; the lease is left to expire']);
    expect(await a.ended).toBe('resolved');
  });

  it('warns of a lease that it could not give back', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const lines: string[] = [];
    const log = (message: string): void => void lines.push(message);
    const a = candidate(server, clock, 'a', { logger: { ...noopLogger, debug: log, warn: log } });
    await clock.advance(0);
    server.down = true;
    a.stop.abort();
    await clock.advance(10_000);
    expect(await a.ended).toBe('resolved');
    expect(lines).toContain('could not release the lease yet');
    expect(lines.at(-1)).toBe('failed to release the lease; it will expire');
  });

  it('needs no callback but the work', async () => {
    const [server, clock] = [new Server(), new FakeClock()];
    const errors: string[] = [];
    const logger = { ...noopLogger, error: (message: string) => void errors.push(message) };
    const a = candidate(server, clock, 'a', { logger, callbacks: { onStartedLeading: () => undefined } });
    await clock.advance(0);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
    expect([await a.ended, errors]).toEqual(['resolved', []]);
  });

  it('has metrics by the name of the election', () => {
    const names: [string, readonly string[] | undefined, object][] = [];
    const family = ({ name, labelNames }: { name: string; labelNames?: readonly string[] }) => ({
      with: (labels: object) => {
        names.push([name, labelNames, labels]);
        return { set: () => undefined, inc: () => undefined };
      },
    });
    const metrics = { ...noopMetrics, counter: family, gauge: family } as unknown as Metrics;
    createLeaderElector({ lock: new Server().lock('a'), callbacks: { onStartedLeading: () => undefined }, metrics });
    const labels = { name: 'lease default/test' };
    expect(names).toEqual([
      ['leader_election_master_status', ['name'], labels],
      ['leader_election_slowpath_total', ['name'], labels],
      ['leader_election_request_failures_total', ['name'], labels],
    ]);
  });

  it.each([undefined, null, {}, 'signal'])('refuses to run with %o in place of a signal', async (signal) => {
    const elector = createLeaderElector({
      lock: new Server().lock('a'),
      callbacks: { onStartedLeading: () => undefined },
    });
    await expect(elector.run(signal as never)).rejects.toThrow('LeaderElector.run needs an AbortSignal');
  });

  it.each([
    [
      { leaseDurationMs: 15_000, renewDeadlineMs: 14_000 },
      /leaseDurationMs 15000 must be greater than renewDeadlineMs \+ retryPeriodMs/,
    ],
    [{ leaseDurationMs: 1_500 }, /whole seconds/],
    [{ renewDeadlineMs: 2_400 }, /renewDeadlineMs 2400 must be greater than retryPeriodMs/],
    [{ retryPeriodMs: 0 }, /retryPeriodMs must be a positive number of ms/],
  ])('refuses %o', (options, message) => {
    expect(() =>
      createLeaderElector({
        lock: new Server().lock('a'),
        callbacks: { onStartedLeading: () => undefined },
        ...options,
      }),
    ).toThrow(message);
  });
});
