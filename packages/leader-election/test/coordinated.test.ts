import { StatusError } from '@kctl/apimachinery';
import type { LeaseCandidate } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1beta1';
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

  it('refuses an empty field', async () => {
    const options = { client: {} as never, namespace: 'x', identity: '', leaseName: 'y', binaryVersion: '1.0.0' };
    await expect(runLeaseCandidate(options, new AbortController().signal)).rejects.toThrow(
      'identity must not be empty',
    );
  });
});
