import { FakeClock } from '@kctl/wait/testing';
import { noopLogger, noopMetrics, type LogFields, type Logger } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import { createWorkerLeaderElector, isLeaseNotRenewed } from '../src/index.js';
import { startCandidate, untilAborted } from './candidate.js';
import { MemoryLockServer } from './memory-lock.js';

function recording(): { readonly logger: Logger; readonly lines: string[]; readonly fields: LogFields[] } {
  const lines: string[] = [];
  const fields: LogFields[] = [];
  const at =
    (level: string) =>
    (message: string, given: LogFields = {}) => {
      lines.push(`${level} ${message}`);
      fields.push(given);
    };
  const logger: Logger = {
    ...noopLogger,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return { logger, lines, fields };
}

const failing = {
  'that throws': (): never => {
    throw new Error('a bug in the callback');
  },
  'that rejects': async (): Promise<never> => {
    await Promise.resolve();
    throw new Error('a bug in the callback');
  },
};

/** Answers from memory; for a thread that is never asked twice. */
const lockModule = `data:text/javascript,${encodeURIComponent(`
export function createLock() {
  let record;
  const observe = () => ({ record, fingerprint: JSON.stringify(record) });
  const hold = async (next) => { record = next; return observe(); };
  return { identity: 'w', description: 'memory', get: async () => record && observe(), create: hold, update: hold };
}`)}`;

describe.each(Object.entries(failing))('a callback %s', (_, callback) => {
  it.each(['main', 'worker'])('is logged, and the election in the %s thread goes on', async (where) => {
    const { logger, lines } = recording();
    const led = Promise.withResolvers<undefined>();
    const callbacks = {
      onStartedLeading: async (signal: AbortSignal) => {
        led.resolve(undefined);
        await untilAborted(signal);
      },
      onNewLeader: callback,
      onStoppedLeading: callback,
    };
    const stop = new AbortController();
    let ended: Promise<unknown>;
    if (where === 'worker')
      ended = createWorkerLeaderElector({ name: 'x', lockModule, logger, callbacks }).run(stop.signal);
    else {
      const [server, clock] = [new MemoryLockServer(), new FakeClock()];
      const candidate = startCandidate(server, clock, 'a', { logger, callbacks });
      ended = candidate.ended;
      stop.signal.addEventListener('abort', () => candidate.stop.abort());
      await clock.advance(0);
    }
    await led.promise;
    stop.abort();
    await ended;
    expect(lines).toContain('error onNewLeader failed');
    expect(lines).toContain('error onStoppedLeading failed');
  });
});

describe('lockData that cannot be cloned', () => {
  it('rejects the run, names the field, and leaves no timer behind', async () => {
    const elector = createWorkerLeaderElector({
      name: 'x',
      lockModule,
      lockData: { headers: () => undefined },
      callbacks: { onStartedLeading: untilAborted },
    });
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const run = elector.run(new AbortController().signal);
    await expect(run).rejects.toThrow(/lockData cannot be cloned into the thread: .*: pass plain data/);
    expect(timers()).toBe(before);
  });
});

describe('a lease that cannot be renewed', () => {
  it('is warned of once for each cause, however long it lasts, and counted', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const { logger, lines } = recording();
    let failure: Error | undefined = new Error('leases "x" is forbidden: attempt 1');
    let attempts = 0;
    const before = async (): Promise<void> => {
      if (failure === undefined) return;
      throw new Error(failure.message.replace(/\d+$/, String(++attempts)));
    };
    let counted = 0;
    const counter = { inc: () => void counted++, with: () => counter, remove: () => undefined };
    const metrics = {
      ...noopMetrics,
      counter: ({ name }: { name: string }) =>
        name === 'leader_election_request_failures_total' ? counter : noopMetrics.counter({ name, help: '' }),
    };
    const a = startCandidate(server, clock, 'a', { logger, metrics, faults: { before } });
    await clock.advance(3_600_000);
    const warnings = (): string[] => lines.filter((line) => line.startsWith('warn'));
    expect(warnings()).toHaveLength(1);
    expect(counted).toBe(attempts);
    expect(attempts).toBeGreaterThan(1_000);
    failure = new Error('connection refused by 127.0.0.1:1');
    await clock.advance(60_000);
    expect(warnings()).toHaveLength(2);
    failure = undefined;
    await clock.advance(3_000);
    expect(a.elector.isLeader).toBe(true);
    expect(lines).toContain('info requests for the lease succeed again');
    a.stop.abort();
    await clock.advance(0);
    await a.ended;
  });

  it('ends the term with what its requests failed with; without a cause after a stall', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    let outage: Error | undefined;
    let reason: unknown;
    const a = startCandidate(server, clock, 'a', {
      reelect: true,
      faults: {
        before: async () => {
          if (outage !== undefined) throw outage;
        },
      },
      work: async (signal) => {
        await untilAborted(signal);
        reason = signal.reason;
      },
    });
    await clock.advance(0);
    outage = new Error('connection refused');
    await clock.advance(11_000);
    expect(isLeaseNotRenewed(reason) && reason.cause).toBe(outage);
    outage = undefined;
    await clock.advance(20_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
    await a.ended;
  });
});

it('says in both threads alike why a term was not extended', async () => {
  const mortalModule = `data:text/javascript,${encodeURIComponent(`
export function createLock() {
  let record;
  const observe = () => ({ record, fingerprint: JSON.stringify(record) });
  const fail = async () => { throw new Error('connection refused'); };
  const get = async () => (record === undefined ? undefined : fail());
  const create = async (next) => { record = next; return observe(); };
  return { identity: 'w', description: 'memory', get, create, update: fail };
}`)}`;
  const reason = Promise.withResolvers<unknown>();
  const elector = createWorkerLeaderElector({
    name: 'x',
    lockModule: mortalModule,
    leaseDurationMs: 1_000,
    renewDeadlineMs: 500,
    retryPeriodMs: 100,
    reelect: true,
    callbacks: {
      onStartedLeading: async (signal) => {
        await untilAborted(signal);
        reason.resolve(signal.reason);
      },
    },
  });
  const stop = new AbortController();
  const run = elector.run(stop.signal);
  const lost = await reason.promise;
  expect(isLeaseNotRenewed(lost) && lost.cause).toMatchObject({ message: 'connection refused' });
  stop.abort();
  await run;
});

describe('abandon', () => {
  it('ends the run beside work that goes on, closes the fence, and leaves the lease to expire', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const end = Promise.withResolvers<undefined>();
    const a = startCandidate(server, clock, 'a', { reelect: true, work: () => end.promise });
    await clock.advance(0);
    expect(a.elector.fence.isOpen).toBe(true);
    a.elector.abandon();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
    expect([a.elector.isLeader, a.elector.fence.isOpen, server.record?.holderIdentity]).toEqual([false, false, 'a']);
    expect(clock.pendingTimers).toBe(0);
    const b = startCandidate(server, clock, 'b');
    await clock.advance(14_000);
    expect(b.elector.isLeader).toBe(false);
    await clock.advance(3_000);
    expect(b.elector.isLeader).toBe(true);
    b.stop.abort();
    end.resolve(undefined);
    await clock.advance(0);
    await b.ended;
  });

  it('ends the run of a thread, too', async () => {
    const led = Promise.withResolvers<undefined>();
    const elector = createWorkerLeaderElector({
      name: 'x',
      lockModule,
      callbacks: {
        onStartedLeading: () => {
          led.resolve(undefined);
          return new Promise<void>(() => undefined);
        },
      },
    });
    const run = elector.run(new AbortController().signal);
    await led.promise;
    elector.abandon();
    await run;
    expect([elector.isLeader, elector.fence.isOpen]).toEqual([false, false]);
  });

  it('does nothing to a later run', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const a = startCandidate(server, clock, 'a');
    await clock.advance(0);
    a.elector.abandon();
    await clock.advance(0);
    await a.ended;
    const stop = new AbortController();
    const again = a.elector.run(stop.signal);
    await clock.advance(3_000);
    expect(a.elector.isLeader).toBe(true);
    stop.abort();
    await clock.advance(0);
    await again;
    expect(server.record?.holderIdentity).toBe('');
  });
});
