import { StatusError } from '@kctl/apimachinery';
import type { LeaseCandidate } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1beta1';
import { noopLogger, type Logger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  isLeadershipLost,
  runLeaseCandidate,
  type LeaderElectionRecord,
  type LeaseCandidateOptions,
} from '../src/index.js';
import { startCandidate } from './candidate.js';
import { MemoryLockServer } from './memory-lock.js';

/** What the server's controller writes when it chooses. */
function chosen(holderIdentity: string): LeaderElectionRecord {
  const time = '2026-01-01T00:00:00.123456Z';
  return {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: time,
    renewTime: time,
    leaderTransitions: 4,
    strategy: 'OldestEmulationVersion',
  };
}

describe('coordinated election', () => {
  it('never creates or takes the Lease, leads when it is chosen, and keeps what the server wrote', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    const a = startCandidate(server, clock, 'a', { coordinated: true });
    await clock.advance(30_000);
    expect(server.record).toBeUndefined();
    server.overwrite(chosen('b'));
    await clock.advance(60_000);
    expect(server.record).toEqual(chosen('b'));
    server.overwrite(chosen('a'));
    await clock.advance(2_000);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(20_000);
    const { acquireTime, leaderTransitions, strategy, renewTime } = server.record!;
    expect({ acquireTime, leaderTransitions, strategy }).toMatchObject({
      acquireTime: chosen('a').acquireTime,
      leaderTransitions: 4,
      strategy: 'OldestEmulationVersion',
    });
    expect(renewTime).not.toBe(chosen('a').renewTime);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });

  it('says since when it leads where the server does not', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    server.overwrite({ ...chosen('a'), acquireTime: '' });
    const a = startCandidate(server, clock, 'a', { coordinated: true });
    await clock.advance(1_000);
    const { acquireTime } = server.record!;
    expect(acquireTime).toMatch(/^2026-01-01T00:00:0[01]/);
    await clock.advance(20_000);
    expect(server.record?.acquireTime).toBe(acquireTime);
    expect(a.elector.isLeader).toBe(true);
    a.stop.abort();
    await clock.advance(0);
    await a.ended;
  });

  it('ends its term and lets the lease lapse when another holder is preferred', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    server.overwrite(chosen('a'));
    const a = startCandidate(server, clock, 'a', { coordinated: true });
    await clock.advance(5_000);
    expect(a.elector.isLeader).toBe(true);
    server.overwrite({ ...server.record!, preferredHolder: 'b' });
    const { renewTime } = server.record!;
    await clock.advance(2_000);
    expect(isLeadershipLost(await a.ended)).toBe(true);
    expect(server.record).toMatchObject({ holderIdentity: 'a', preferredHolder: 'b', renewTime });
  });

  it('does not renew a lease of its own that has expired', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    server.overwrite({ ...chosen('a'), preferredHolder: 'b' });
    const a = startCandidate(server, clock, 'a', { coordinated: true });
    await clock.advance(30_000);
    expect(a.elector.isLeader).toBe(false);
    server.overwrite({ ...server.record!, leaseDurationSeconds: 1 });
    await clock.advance(30_000);
    expect(a.elector.isLeader).toBe(false);
    a.stop.abort();
    await clock.advance(0);
    expect(await a.ended).toBe('resolved');
  });

  it('stops when the Lease is deleted', async () => {
    const [server, clock] = [new MemoryLockServer(), new FakeClock()];
    server.overwrite(chosen('a'));
    const a = startCandidate(server, clock, 'a', { coordinated: true });
    await clock.advance(1_000);
    server.overwrite(undefined);
    await clock.advance(3_000);
    expect(isLeadershipLost(await a.ended)).toBe(true);
    expect(server.record).toBeUndefined();
  });
});

describe('runLeaseCandidate', () => {
  it('creates, answers pings also with a clock that is behind, renews each five minutes, creates again', async () => {
    const clock = new FakeClock();
    let stored: LeaseCandidate | undefined;
    let writes = 0;
    const commit = (candidate: LeaseCandidate): LeaseCandidate => {
      writes++;
      stored = structuredClone(candidate);
      return candidate;
    };
    const client = {
      get: async () => {
        if (stored === undefined) throw new StatusError({ code: 404, reason: 'NotFound' });
        return structuredClone(stored);
      },
      create: async (_kind: unknown, candidate: LeaseCandidate) => commit(candidate),
      update: async (_kind: unknown, candidate: LeaseCandidate) => commit(candidate),
    } as unknown as LeaseCandidateOptions['client'];
    const stop = new AbortController();
    const run = runLeaseCandidate(
      { client, clock, namespace: 'kube-system', identity: 'a', leaseName: 'scheduler', binaryVersion: '1.2.0' },
      stop.signal,
    );
    await clock.advance(0);
    expect(stored).toMatchObject({
      metadata: { namespace: 'kube-system', name: 'a' },
      spec: {
        leaseName: 'scheduler',
        binaryVersion: '1.2.0',
        emulationVersion: '1.2.0',
        strategy: 'OldestEmulationVersion',
      },
    });
    const pingTime = '2030-01-01T00:00:00.000001Z';
    stored = { ...stored!, spec: { ...stored!.spec!, pingTime } };
    await clock.advance(1_000);
    expect(stored.spec).toMatchObject({ pingTime, renewTime: pingTime });
    expect(writes).toBe(2);
    await clock.advance(200_000);
    expect(writes).toBe(2);
    await clock.advance(101_000);
    expect(writes).toBe(3);
    stored = undefined;
    await clock.advance(1_000);
    expect(stored).toBeDefined();
    stop.abort();
    await run;
    expect(clock.pendingTimers).toBe(0);
  });

  /** A candidate on a server in memory, whose requests a test may fail or hold up. */
  function announce(
    options: Partial<LeaseCandidateOptions> = {},
    fault: (verb: string, signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
  ) {
    const clock = new FakeClock();
    const requests: string[] = [];
    const warnings: unknown[] = [];
    const server: { stored?: LeaseCandidate | undefined } = {};
    const request = async (verb: string, signal: AbortSignal, candidate?: LeaseCandidate): Promise<LeaseCandidate> => {
      requests.push(verb);
      await fault(verb, signal);
      if (candidate !== undefined) server.stored = structuredClone(candidate);
      if (server.stored === undefined) throw new StatusError({ code: 404, reason: 'NotFound' });
      return structuredClone(server.stored);
    };
    const client = {
      get: (_kind: unknown, _key: unknown, given: { live: boolean; signal: AbortSignal }) =>
        request(given.live ? 'get' : 'get cached', given.signal),
      create: (_kind: unknown, candidate: LeaseCandidate, given: { signal: AbortSignal }) =>
        request('create', given.signal, candidate),
      update: (_kind: unknown, candidate: LeaseCandidate, given: { signal: AbortSignal }) =>
        request('update', given.signal, candidate),
    } as unknown as LeaseCandidateOptions['client'];
    const logger: Logger = { ...noopLogger, warn: (_message, fields) => void warnings.push(fields?.['error']) };
    const stop = new AbortController();
    const run = runLeaseCandidate(
      {
        ...{ client, clock, logger, namespace: 'ns', identity: 'a' },
        leaseName: 'l',
        binaryVersion: '1.2.0',
        ...options,
      },
      stop.signal,
    );
    return { clock, requests, warnings, server, stop, run };
  }

  it('announces the version and the strategy that it is given', async () => {
    const t = announce({ emulationVersion: '1.1.0', strategy: 'Mine', pollMs: 10, renewIntervalMs: 25 });
    await t.clock.advance(0);
    expect(t.server.stored?.spec).toMatchObject({
      binaryVersion: '1.2.0',
      emulationVersion: '1.1.0',
      strategy: 'Mine',
    });
    await t.clock.advance(30);
    expect(t.requests).toEqual(['get', 'create', 'get', 'get', 'get', 'update']);
    t.stop.abort();
    await t.run;
  });

  it('keeps what others wrote into its candidate, and answers a ping once', async () => {
    const t = announce();
    await t.clock.advance(0);
    const metadata = { namespace: 'ns', name: 'a', resourceVersion: '7', labels: { team: 'x' } };
    t.server.stored = {
      ...t.server.stored!,
      metadata,
      spec: { ...t.server.stored!.spec!, pingTime: '2000-01-01T00:00:00.000000Z' },
    };
    await t.clock.advance(3_000);
    expect(t.requests.filter((verb) => verb === 'update')).toEqual([]); // an old ping
    const pingTime = '2030-01-01T00:00:00.000001Z';
    t.server.stored = { ...t.server.stored, spec: { ...t.server.stored.spec!, pingTime } };
    await t.clock.advance(3_000);
    expect(t.requests.filter((verb) => verb === 'update')).toEqual(['update']);
    expect(t.server.stored).toMatchObject({ metadata, spec: { pingTime, renewTime: pingTime, leaseName: 'l' } });
    t.stop.abort();
    await t.run;
  });

  it.each<[string, string, unknown, number]>([
    ['a conflict', 'update', new StatusError({ code: 409, reason: 'Conflict' }), 0],
    ['another that was first', 'create', new StatusError({ code: 409, reason: 'AlreadyExists' }), 0],
    ['an update that is refused', 'update', new StatusError({ code: 403, reason: 'Forbidden' }), 1],
    ['a create that is refused', 'create', new StatusError({ code: 403, reason: 'Forbidden' }), 1],
    ['a get that fails', 'get', new Error('socket hang up'), 1],
    ['an abort without a stop', 'get', new DOMException('a bug of the client', 'AbortError'), 1],
  ])('tries again after %s', async (_what, failing, failure, warnings) => {
    let isFailing = true;
    const t = announce({}, async (verb) => {
      if (verb !== failing || !isFailing) return;
      isFailing = false;
      throw failure;
    });
    if (failing === 'update') t.server.stored = { metadata: { namespace: 'ns', name: 'a' }, spec: {} } as never;
    await t.clock.advance(0);
    expect(t.warnings).toEqual(Array(warnings).fill(failure));
    await t.clock.advance(1_000);
    expect(t.server.stored?.spec?.leaseName).toBe('l');
    expect(t.warnings).toHaveLength(warnings);
    t.stop.abort();
    await t.run;
  });

  it('gives a request up after 5 s, and writes nothing for an answer that comes later', async () => {
    const answer = Promise.withResolvers<undefined>();
    let isFirst = true;
    const t = announce({}, async () => {
      if (isFirst) {
        isFirst = false;
        await answer.promise;
      }
    });
    await t.clock.advance(4_999);
    expect(t.warnings).toEqual([]);
    await t.clock.advance(1);
    expect(t.warnings).toMatchObject([{ name: 'TimeoutError' }]);
    t.server.stored = { metadata: { namespace: 'ns', name: 'a' }, spec: { leaseName: 'l' } } as LeaseCandidate;
    answer.resolve(undefined);
    await t.clock.advance(999);
    expect(t.requests).toEqual(['get']);
    await t.clock.advance(1);
    expect(t.requests).toEqual(['get', 'get', 'update']);
    t.stop.abort();
    await t.run;
  });

  it('ends at once and without a warning when it is stopped, before it begins and during a request', async () => {
    const before = announce({}, () => Promise.resolve());
    before.stop.abort();
    await before.run;
    const during = announce(
      {},
      (_verb, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    await during.clock.advance(0);
    during.stop.abort();
    await during.run;
    expect([during.warnings, during.requests, during.clock.pendingTimers]).toEqual([[], ['get'], 0]);
  });

  it.each(['namespace', 'identity', 'leaseName', 'binaryVersion'])('refuses an empty %s', async (field) => {
    for (const value of ['', undefined, 5]) {
      const t = announce({ [field]: value });
      await expect(t.run).rejects.toThrow(`runLeaseCandidate: ${field} must not be empty`);
    }
  });

  it.each([undefined, null, 5])('refuses options that are %s', async (options) => {
    await expect(runLeaseCandidate(options as never, new AbortController().signal)).rejects.toThrow(
      'runLeaseCandidate: expected options',
    );
  });
});
