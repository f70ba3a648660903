import { systemClock } from '@kctl/wait';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  createLeaderElector,
  createLeaseLock,
  createWorkerLeaderElector,
  leaderElectionCheck,
  runLeaseCandidate,
} from '../src/index.js';
import { resolveLeaderElectorOptions } from '../src/options.js';
import { resolveWorkerOptions } from '../src/worker/worker-options.js';
import type { ResourceLock } from '../src/index.js';

interface Row {
  readonly option: string;
  readonly ours: unknown;
  /** As client-go's `LeaderElectionConfig` with the defaults of component-base has it, in our units. */
  readonly upstream: unknown;
  /** Why ours differs. */
  readonly difference?: string;
}

const lock = { identity: 'a', description: 'lease default/x' } as ResourceLock;
const callbacks = { onStartedLeading: () => undefined };
const ours = resolveLeaderElectorOptions({ lock, callbacks });
const worker = resolveWorkerOptions({ callbacks, name: 'x', lockModule: 'file:///x.js' });

/** The tolerance in ms that a check is made with. */
function defaultTolerance(): number {
  let seen = 0;
  leaderElectionCheck({ checkHealth: (toleranceMs = 0) => void (seen = toleranceMs) })();
  return seen;
}

const rows: readonly Row[] = [
  { option: 'leaseDurationMs', ours: ours.leaseDurationMs, upstream: 15_000 },
  { option: 'renewDeadlineMs', ours: ours.renewDeadlineMs, upstream: 10_000 },
  { option: 'retryPeriodMs', ours: ours.retryPeriodMs, upstream: 2_000 },
  {
    option: 'releaseOnCancel',
    ours: ours.releaseOnCancel,
    upstream: false,
    difference: 'the lease is given back only after the work has ended, so it is safe',
  },
  { option: 'coordinated', ours: ours.coordinated, upstream: false },
  { option: 'reelect', ours: ours.reelect, upstream: false },
  { option: 'name', ours: ours.name, upstream: '', difference: 'metrics of two elections must not be one' },
  { option: 'leaderElectionCheck: tolerance', ours: defaultTolerance(), upstream: 20_000 },
  { option: 'worker: mainStallLimitMs', ours: worker.election.mainStallLimitMs, upstream: 10_000 },
];

it('counts the time of suspensions, with the system clock too, and leaves another clock alone', () => {
  const fake = new FakeClock();
  expect(resolveLeaderElectorOptions({ lock, callbacks, clock: fake }).clock).toBe(fake);
  for (const given of [{}, { clock: systemClock }])
    expect(resolveLeaderElectorOptions({ lock, callbacks, ...given }).clock).not.toBe(systemClock);
});

describe('defaults', () => {
  it.each(rows)('$option: ours $ours, upstream $upstream', (row) => {
    if (row.difference === undefined) expect(row.ours).toEqual(row.upstream);
    else expect(row.ours).not.toEqual(row.upstream);
  });

  it.each([
    [{ leaseDurationMs: 10_000 }, 'leaseDurationMs 10000 must be greater than renewDeadlineMs + retryPeriodMs = 12000'],
    [{ leaseDurationMs: 12_000 }, 'leaseDurationMs 12000 must be greater than renewDeadlineMs + retryPeriodMs = 12000'],
    [{ leaseDurationMs: 15_500 }, 'must be whole seconds'],
    [{ renewDeadlineMs: 2_400 }, 'renewDeadlineMs 2400 must be greater than retryPeriodMs × 1.2 = 2400'],
    [{ renewDeadlineMs: 14_000 }, 'must be greater than renewDeadlineMs + retryPeriodMs = 16000'],
    [{ retryPeriodMs: 0 }, 'retryPeriodMs must be a positive number'],
  ])('refuses %o', (options, message) => {
    expect(() => resolveLeaderElectorOptions({ lock, callbacks, ...options })).toThrow(message);
    expect(() => resolveWorkerOptions({ callbacks, name: 'x', lockModule: 'file:///x.js', ...options })).toThrow(
      message,
    );
  });

  it.each([
    [{ lock: undefined, callbacks }, 'createLeaderElector: lock is undefined: expected a ResourceLock such as'],
    [{ lock, callbacks: undefined }, 'createLeaderElector: callbacks.onStartedLeading is not set'],
    [{ lock, callbacks: {} }, 'createLeaderElector: callbacks.onStartedLeading is not set'],
    [{ lock: null, callbacks }, 'createLeaderElector: lock is null: expected a ResourceLock such as'],
    [{ lock, callbacks: null }, 'createLeaderElector: callbacks.onStartedLeading is not set'],
    [{ lock: { description: 'x' }, callbacks }, 'createLeaderElector: lock.identity must not be empty'],
    [{ lock: { ...lock, identity: '' }, callbacks }, 'createLeaderElector: lock.identity must not be empty'],
    [{ lock, callbacks, leaseDurationMs: '15s' }, 'leaseDurationMs must be a positive number of ms, not 15s'],
  ])('refuses %o, of a program without types', (options, message) => {
    expect(() => createLeaderElector(options as never)).toThrow(message);
  });

  it.each([
    [{}, { releaseOnCancel: true, reelect: false, coordinated: false, mainStallLimitMs: 10_000, heartbeatMs: 500 }],
    [
      { releaseOnCancel: false, reelect: true, coordinated: true },
      { releaseOnCancel: false, reelect: true, coordinated: true },
    ],
    [{ renewDeadlineMs: 4_000 }, { renewDeadlineMs: 4_000, mainStallLimitMs: 4_000, heartbeatMs: 400 }],
    [{ mainStallLimitMs: 1_000 }, { mainStallLimitMs: 1_000, heartbeatMs: 100 }],
    [{ mainStallLimitMs: 60_000 }, { mainStallLimitMs: 60_000, heartbeatMs: 500 }],
  ])('gives the thread of an elector with %o what it needs', (options, election) => {
    const resolved = resolveWorkerOptions({ callbacks, name: 'x', lockModule: new URL('file:///x.js'), ...options });
    expect(resolved.election).toMatchObject(election);
    expect(resolved.lockModule).toBe('file:///x.js');
  });

  it.each([0, -1, Number.NaN, Infinity])('refuses mainStallLimitMs %s', (mainStallLimitMs) => {
    expect(() => resolveWorkerOptions({ callbacks, name: 'x', lockModule: 'file:///x.js', mainStallLimitMs })).toThrow(
      'mainStallLimitMs must be a positive number of ms',
    );
  });

  it('needs a name, and one of a lock module and a thread module', () => {
    const threadModule = { source: '' };
    for (const given of [
      { name: '', lockModule: 'file:///x.js' },
      { name: '', threadModule },
    ])
      expect(() => resolveWorkerOptions({ callbacks, ...given })).toThrow('name must not be empty');
    expect(() => resolveWorkerOptions({ callbacks, name: 'x', lockModule: '' })).toThrow(
      'lockModule must not be empty',
    );
    expect(resolveWorkerOptions({ callbacks, name: 'x', threadModule })).toMatchObject({
      threadModule,
      lockModule: undefined,
    });
  });

  it.each([
    [{ renewDeadlineMs: 2_401 }, { leaseDurationMs: 15_000, renewDeadlineMs: 2_401, retryPeriodMs: 2_000 }],
    [{ leaseDurationMs: 13_000 }, { leaseDurationMs: 13_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }],
    [
      { releaseOnCancel: false, reelect: true, coordinated: true, name: 'n' },
      { releaseOnCancel: false, reelect: true, coordinated: true, name: 'n' },
    ],
  ])('takes %o', (options, resolved) => {
    expect(resolveLeaderElectorOptions({ lock, callbacks, ...options })).toMatchObject(resolved);
  });

  it.each([
    ['name', 'My_Operator'],
    ['name', 'a'.repeat(254)],
    ['name', 'sweeper-team a'],
    ['namespace', 'shop.eu'],
  ])('refuses a Lease whose %s no object may have: %s', (field, value) => {
    const unused = (): void => undefined;
    const client = { get: unused, create: unused, update: unused } as never;
    const given = { client, namespace: 'shop', name: 'sweeper.eu-1', identity: 'a' };
    expect(() => createLeaseLock({ ...given, [field]: value })).toThrow(`createLeaseLock: ${field} "`);
    expect(() => createLeaseLock(given)).not.toThrow();
  });

  it('refuses a worker without a lock module, and a Lease lock without a client', async () => {
    expect(() => createWorkerLeaderElector({ callbacks, name: 'x' })).toThrow('lockModule must not be empty');
    expect(() => createWorkerLeaderElector({ name: 'x' } as never)).toThrow('callbacks.onStartedLeading is not set');
    const lease = { namespace: 'ns', name: 'x', identity: 'a' };
    expect(() => createLeaseLock(lease as never)).toThrow('createLeaseLock: client is undefined: expected one such');
    expect(() => createLeaseLock({ ...lease, identity: undefined } as never)).toThrow('identity must not be empty');
    const candidate = {
      namespace: 'ns',
      identity: 'a',
      client: undefined,
      leaseName: 'x',
      binaryVersion: '1.0.0',
      pollMs: NaN,
    };
    const announced = runLeaseCandidate(candidate as never, new AbortController().signal);
    await expect(announced).rejects.toThrow('runLeaseCandidate: pollMs NaN is not valid');
  });
});
