import { StatusError } from '@kctl/apimachinery';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { MemoryLockServer, type LockFaults } from './memory-lock.js';
import { Contest } from '../src/contest.js';
import { resolveLeaderElectorOptions, type LeaderElectorOptions } from '../src/options.js';
import type { LeaderElectionRecord, ResourceLock } from '../src/record.js';

const { signal } = new AbortController();
const time = '2026-01-01T00:00:00.000000Z';
const held = (holderIdentity: string, over: Partial<LeaderElectionRecord> = {}): LeaderElectionRecord => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  acquireTime: time,
  renewTime: time,
  leaderTransitions: 2,
  ...over,
});

/** The contest of candidate `a` for a record in memory. */
function contest(options: Partial<LeaderElectorOptions> & { faults?: LockFaults } = {}) {
  const { faults, ...rest } = options;
  const server = new MemoryLockServer();
  const clock = new FakeClock();
  const leaders: string[] = [];
  let slow = 0;
  const resolved = resolveLeaderElectorOptions({
    lock: server.lock('a', faults),
    clock,
    random: () => 0,
    callbacks: { onStartedLeading: () => undefined, onNewLeader: (identity) => leaders.push(identity) },
    ...rest,
  });
  const counter = { ...noopMetrics.counter({ name: 'slow', help: '' }).with({}), inc: () => void slow++ };
  return { server, clock, leaders, contest: new Contest(resolved, counter), slow: () => slow };
}

describe('what a candidate writes', () => {
  it('is a new term for a lock that nobody has had, then the same term renewed, in one request each', async () => {
    const t = contest();
    expect(await t.contest.tryAcquire(signal)).toBe(true);
    const first = t.server.record!;
    expect(first).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaderTransitions: 0 });
    expect(first.renewTime).toBe(first.acquireTime);
    await t.clock.advance(2_000);
    expect(await t.contest.tryRenew(signal)).toBeUndefined();
    expect(t.server.record).toEqual({ ...first, renewTime: expect.not.stringMatching(first.renewTime) });
    expect(t.server.requests).toEqual(['a get', 'a create', 'a update']);
    expect([t.contest.holder, t.leaders, t.slow()]).toEqual(['a', ['a'], 0]);
  });

  it('is the same term again for a lease that is its own when it acquires', async () => {
    const t = contest();
    await t.contest.tryAcquire(signal);
    const first = t.server.record!;
    expect(await t.contest.tryAcquire(signal)).toBe(true);
    expect(t.server.record).toEqual({ ...first, renewTime: expect.any(String) });
  });

  it('is the next transition for a lease that was given back or has expired, and nothing before', async () => {
    const t = contest();
    t.server.overwrite(held('b', { leaseDurationSeconds: 10 }));
    expect(await t.contest.tryAcquire(signal)).toBe(false);
    expect(t.contest.validForMs).toBe(10_000);
    await t.clock.advance(9_999);
    expect([await t.contest.tryAcquire(signal), t.contest.validForMs]).toEqual([false, 1]);
    await t.clock.advance(1);
    expect(t.contest.validForMs).toBe(0);
    expect(await t.contest.tryAcquire(signal)).toBe(true);
    expect(t.server.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 3 });
    t.server.overwrite(held('', { leaseDurationSeconds: 1, leaderTransitions: 3 }));
    expect(await t.contest.tryAcquire(signal)).toBe(true);
    expect(t.server.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 4 });
  });

  it('keeps the strategy in a coordinated election alone', async () => {
    for (const coordinated of [true, false]) {
      const t = contest({ coordinated });
      t.server.overwrite(held(coordinated ? 'a' : '', { strategy: 'OldestEmulationVersion' }));
      expect(await t.contest.tryAcquire(signal)).toBe(true);
      expect(t.server.record?.strategy).toBe(coordinated ? 'OldestEmulationVersion' : undefined);
      await t.contest.tryRenew(signal);
      expect('strategy' in t.server.record!).toBe(coordinated);
    }
  });

  it('has no strategy in a coordinated election either, if the server wrote none', async () => {
    const t = contest({ coordinated: true });
    t.server.overwrite(held('a'));
    expect(await t.contest.tryAcquire(signal)).toBe(true);
    expect(t.server.record).not.toHaveProperty('strategy');
  });

  it('is nothing for a coordinated lease of its own that has expired', async () => {
    let isDown = true;
    const t = contest({
      coordinated: true,
      faults: { before: async (verb) => (verb === 'update' && isDown ? Promise.reject(new Error('down')) : undefined) },
    });
    t.server.overwrite(held('a'));
    await expect(t.contest.tryAcquire(signal)).rejects.toThrow('down');
    await t.clock.advance(15_000);
    isDown = false;
    expect(await t.contest.tryAcquire(signal)).toBe(false);
    expect(t.server.record).toEqual(held('a'));
  });

  it('waits for as long as it itself would hold the lease if the holder does not say', async () => {
    const t = contest({ leaseDurationMs: 20_000 });
    t.server.overwrite(held('b', { leaseDurationSeconds: 0 }));
    await t.contest.tryAcquire(signal);
    expect(t.contest.validForMs).toBe(20_000);
  });

  it('recognizes its last 16 terms by their acquire time, of writes whose answer was lost too', async () => {
    let isLost = true;
    const t = contest({
      faults: {
        after: async (verb) => {
          if (isLost && verb === 'create') throw new Error('socket hang up');
        },
      },
    });
    const written: LeaderElectionRecord[] = [];
    for (let each = 0; each < 17; each++) {
      t.server.overwrite(undefined);
      await expect(t.contest.tryAcquire(signal)).rejects.toThrow('socket hang up');
      written.push(t.server.record!);
    }
    isLost = false;
    for (const [index, isKnown] of [
      [16, true],
      [1, true],
      [0, false],
    ] as const) {
      t.server.overwrite(written[index]);
      expect([index, await t.contest.tryAcquire(signal)]).toEqual([index, isKnown]);
    }
  });
});

describe('a renewal', () => {
  const lead = async (options: Parameters<typeof contest>[0] = {}) => {
    const t = contest(options);
    if (options.coordinated === true) t.server.overwrite(held('a'));
    await t.contest.tryAcquire(signal);
    t.server.requests.length = 0;
    return t;
  };

  it.each<[string, (record: LeaderElectionRecord) => LeaderElectionRecord, string]>([
    ['was released', (record) => ({ ...record, holderIdentity: '' }), 'the lease was released by another process'],
    [
      'belongs to a namesake',
      (record) => ({ ...record, acquireTime: time }),
      'the lease is held by another process with the same identity, a',
    ],
    ['was taken', (record) => ({ ...record, holderIdentity: 'b' }), 'the lease is held by b'],
  ])('ends the term if the lease %s, and says so', async (_how, change, message) => {
    const t = await lead();
    const taken = change(t.server.record!);
    t.server.overwrite(taken);
    expect(await t.contest.tryRenew(signal)).toMatchObject({ message });
    expect([t.server.record, t.slow(), t.server.requests]).toEqual([taken, 1, ['a update', 'a get']]);
  });

  it('is nothing for a lock that it has not held', async () => {
    const t = contest();
    expect(await t.contest.tryRenew(signal)).toMatchObject({ message: 'the lease was deleted' });
    t.server.overwrite(held('b'));
    await t.contest.tryAcquire(signal);
    t.server.requests.length = 0;
    expect(await t.contest.tryRenew(signal)).toMatchObject({ message: 'the lease is held by b' });
    expect(t.server.requests).toEqual(['a get']);
  });

  it.each([false, true])('writes over a change that leaves the lease its own, coordinated: %s', async (coordinated) => {
    const t = await lead({ coordinated });
    t.server.overwrite({ ...t.server.record!, renewTime: time });
    expect(await t.contest.tryRenew(signal)).toBeUndefined();
    expect(t.server.record?.renewTime).not.toBe(time);
    expect([t.slow(), t.server.requests]).toEqual([1, ['a update', 'a get', 'a update']]);
  });

  it('looks first once its lease has expired, because another may have taken it', async () => {
    const t = await lead();
    await t.clock.advance(15_000);
    expect(await t.contest.tryRenew(signal)).toBeUndefined();
    expect([t.slow(), t.server.requests]).toEqual([0, ['a get', 'a update']]);
  });

  it('makes a Lease that was deleted again, with its term; not in a coordinated election', async () => {
    const t = await lead();
    const { acquireTime, leaderTransitions } = t.server.record!;
    t.server.overwrite(undefined);
    expect(await t.contest.tryRenew(signal)).toBeUndefined();
    expect(t.server.record).toMatchObject({ holderIdentity: 'a', acquireTime, leaderTransitions });
    const coordinated = await lead({ coordinated: true });
    coordinated.server.overwrite(undefined);
    expect(await coordinated.contest.tryRenew(signal)).toMatchObject({ message: 'the lease was deleted' });
    expect(coordinated.server.record).toBeUndefined();
  });

  it('is over when the server prefers another, also without an own look before', async () => {
    const t = await lead({ coordinated: true });
    t.server.overwrite({ ...t.server.record!, preferredHolder: 'b' });
    for (const requests of [['a update', 'a get'], ['a get']]) {
      t.server.requests.length = 0;
      expect(await t.contest.tryRenew(signal)).toMatchObject({ message: 'the term has ended: b is preferred' });
      expect(t.server.requests).toEqual(requests);
    }
  });

  it('fails with its abort, and is not counted as slow', async () => {
    const stop = new AbortController();
    let isCut = false;
    const t = await lead({
      faults: {
        before: async () => {
          if (!isCut) return;
          stop.abort(new Error('stopped'));
          throw new Error('socket hang up');
        },
      },
    });
    isCut = true;
    await expect(t.contest.tryRenew(stop.signal)).rejects.toThrow('socket hang up');
    expect([t.slow(), t.server.requests]).toEqual([0, []]);
  });
});

describe('a candidate may hold the lock', () => {
  it.each<readonly [string, Error, boolean]>([
    ['unknown', new Error('socket hang up'), true],
    ['not an object', 'socket hang up' as unknown as Error, true],
    ['null', null as unknown as Error, true],
    ['of the server', new StatusError({ reason: 'InternalError', code: 500 }), true],
    ...(['Conflict', 'AlreadyExists', 'NotFound', 'Forbidden', 'Unauthorized', 'Invalid'] as const).map(
      (reason) => [reason, new StatusError({ reason, code: 400 }), false] as const,
    ),
  ])('after a failure that is %s: %o: %s', async (_what, failure, mayHold) => {
    const t = contest({
      faults: {
        before: (verb) => (verb === 'create' ? Promise.reject(failure) : Promise.resolve()),
      },
    });
    await expect(t.contest.tryAcquire(signal)).rejects.toBe(failure);
    expect(t.contest.mayHold).toBe(mayHold);
  });

  it('until an answer comes; a refusal after that changes nothing', async () => {
    let failure: Error | undefined = new Error('socket hang up');
    const t = contest({
      faults: {
        before: async (verb) => {
          if (verb !== 'get' && failure !== undefined) throw failure;
        },
      },
    });
    expect(t.contest.mayHold).toBe(false);
    await expect(t.contest.tryAcquire(signal)).rejects.toThrow();
    failure = new StatusError({ reason: 'Conflict', code: 409 });
    await expect(t.contest.tryAcquire(signal)).rejects.toThrow();
    expect(t.contest.mayHold).toBe(true);
    failure = undefined;
    await t.contest.tryAcquire(signal);
    expect(t.contest.mayHold).toBe(false);
  });
});

describe('giving back', () => {
  it('frees the lease, keeps the number of transitions, and names nobody', async () => {
    const t = contest();
    await t.contest.tryAcquire(signal);
    const { acquireTime, leaderTransitions } = t.server.record!;
    await t.contest.release(signal);
    const { record } = t.server;
    expect(record).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaderTransitions });
    expect(record?.acquireTime).not.toBe(acquireTime);
    expect(record?.renewTime).toBe(record?.acquireTime);
    expect(t.leaders).toEqual(['a', '']);
  });

  it.each([
    ['does not exist', undefined],
    ['belongs to another', held('b')],
    ['belongs to a namesake', held('a')],
  ])('leaves a lease alone that %s', async (_what, record) => {
    const t = contest();
    await t.contest.tryAcquire(signal);
    t.server.overwrite(record);
    t.server.requests.length = 0;
    await t.contest.release(signal);
    expect([t.server.record, t.server.requests]).toEqual([record, ['a get']]);
  });

  it('tries again after 20 ms, then 40, until it is aborted', async () => {
    const stop = new AbortController();
    const times: number[] = [];
    let done: unknown;
    const t = contest({
      faults: {
        before: async () => {
          times.push(t.clock.monotonicNow());
          throw new Error('down');
        },
      },
    });
    void t.contest.release(stop.signal).catch((error: unknown) => (done = error));
    await t.clock.advance(100);
    expect(times.map((at) => at - times[0]!)).toEqual([0, 20, 60]);
    expect(done).toBeUndefined();
    stop.abort();
    await t.clock.advance(0);
    expect(done).toMatchObject({ name: 'AbortError' });
    expect(t.clock.pendingTimers).toBe(0);
  });
});

describe('a lock that returns no record', () => {
  const lockThat = (answer: unknown): ResourceLock => ({
    identity: 'a',
    description: 'lock of a user',
    get: async () => answer as never,
    create: async () => answer as never,
    update: async () => answer as never,
  });

  it.each([
    [null, 'null'],
    [5, 'a value of type number'],
    [{ record: { holderIdentity: 'a' } }, ''],
    [{ fingerprint: 'x' }, ''],
    [{ fingerprint: 'x', record: null }, ''],
    [{ fingerprint: 'x', record: {} }, ''],
    [{ fingerprint: 5, record: { holderIdentity: 'a' } }, ''],
  ])('fails the request that returned %o, and observes nothing', async (answer, shown) => {
    const t = contest({ lock: lockThat(answer) });
    await expect(t.contest.tryAcquire(signal)).rejects.toThrow(`get of the lock "lock of a user" returned ${shown}`);
    await expect(t.contest.tryAcquire(signal)).rejects.toThrow('or undefined if there is none');
    expect([t.contest.holder, t.leaders]).toEqual(['', []]);
  });

  it('fails a write, too, after which it may hold the lock', async () => {
    const t = contest({ lock: { ...lockThat(undefined) } });
    await expect(t.contest.tryAcquire(signal)).rejects.toThrow(
      /create of the lock "lock of a user" returned undefined: expected \{ record, fingerprint \}$/,
    );
    expect(t.contest.mayHold).toBe(true);
  });
});

it('needs no one who wants to know the leader', async () => {
  const lines: unknown[] = [];
  const logger = { ...noopLogger, error: (...line: unknown[]) => void lines.push(line) };
  const t = contest({ logger, callbacks: { onStartedLeading: () => undefined } });
  expect(await t.contest.tryAcquire(signal)).toBe(true);
  expect(lines).toEqual([]);
});

it('learns of each new holder once', async () => {
  const t = contest();
  t.server.overwrite(held('b'));
  await t.contest.tryAcquire(signal);
  t.server.overwrite(held('b', { renewTime: '2026-01-01T00:00:09.000000Z' }));
  await t.contest.tryAcquire(signal);
  t.server.overwrite(held('c'));
  await t.contest.tryAcquire(signal);
  expect([t.leaders, t.contest.holder]).toEqual([['b', 'c'], 'c']);
});

it('counts the time of a lease from when it first saw it as it is, not from later looks', async () => {
  const t = contest();
  t.server.overwrite(held('b'));
  await t.contest.tryAcquire(signal);
  await t.clock.advance(5_000);
  await t.contest.tryAcquire(signal);
  expect(t.contest.validForMs).toBe(10_000);
  t.server.overwrite(held('b', { renewTime: '2026-01-01T00:00:09.000000Z' }));
  await t.contest.tryAcquire(signal);
  expect(t.contest.validForMs).toBe(15_000);
});

it('remembers and writes nothing for an answer that comes after the abort', async () => {
  const stop = new AbortController();
  const t = contest({
    faults: {
      after: async () => {
        stop.abort(new Error('stopped'));
      },
    },
  });
  t.server.overwrite(held('b'));
  await expect(t.contest.tryAcquire(stop.signal)).rejects.toThrow('stopped');
  expect([t.contest.holder, t.server.requests]).toEqual(['', ['a get']]);
  const other = new AbortController();
  const late = contest({
    faults: { after: async (verb) => (verb === 'create' ? other.abort(new Error('stopped')) : undefined) },
  });
  await expect(late.contest.tryAcquire(other.signal)).rejects.toThrow('stopped');
  expect([late.contest.holder, late.contest.mayHold, late.leaders]).toEqual(['', true, []]);
});
