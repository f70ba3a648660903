import type { GroupVersionKind } from '@kctl/apimachinery';
import type { LogFields, Logger } from '@kctl/telemetry';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { InformerReport, ManagerOptions, Runnable, RunnableSource } from '../src/index.js';
import { createManager } from '../src/index.js';
import { FakeCache, fakeCluster, FakeElector, untilAborted } from './fakes.js';

const host = '127.0.0.1';
const pods: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A cache that lends informers, which never sync unless the test says so. */
class LendingCache extends FakeCache {
  readonly loans: string[] = [];

  acquire({ kind }: GroupVersionKind) {
    this.loans.push(`lent ${kind}`);
    return {
      informer: { addEventHandler: () => expect.unreachable('no source starts here') },
      [Symbol.asyncDispose]: async () => void this.loans.push(`returned ${kind}`),
    };
  }
}

const report = (phase: string, rest: Partial<InformerReport> = {}): InformerReport => ({
  kind: pods,
  state: { phase },
  hasSynced: false,
  ...rest,
});

async function setUp(runnables: readonly Partial<Runnable>[] = [], options: Partial<ManagerOptions> = {}) {
  const clock = new FakeClock();
  const cache = new LendingCache();
  let port = 0;
  const failures: LogFields[] = [];
  const logger: Logger = {
    ...noopLogger,
    info: (message, fields = {}) => {
      const address = fields['addr'];
      if (typeof address === 'object' && address !== null && 'port' in address) port = Number(address.port);
      if (message === 'health check failed') failures.push(fields);
    },
  };
  const manager = createManager({ cluster: fakeCluster(cache), clock, logger, health: { host, port: 0 }, ...options });
  const added = runnables.map((rest): Runnable => ({ name: 'controller', run: untilAborted, ...rest }));
  for (const runnable of added) manager.add(runnable);
  const stop = new AbortController();
  const done = manager.run(stop.signal);
  cleanups.push(() => {
    stop.abort();
    return done;
  });
  while (port === 0) await settle();
  await settle();
  /** Names of the checks that fail. */
  const failing = async (): Promise<string[]> => {
    const body = await (await fetch(`http://${host}:${port}/readyz?verbose`)).text();
    return [...body.matchAll(/\[-\](\S+) failed/g)].map(([, name]) => name ?? '');
  };
  return { clock, cache, manager, added, failing, failures };
}

const watching = (source: Partial<RunnableSource> = {}): Partial<Runnable> => ({
  sources: () => [{ name: 'kind source: Pod', kind: pods, isRequired: true, ...source }],
});

describe('readiness', () => {
  it('has no grace for an informer that never synced, and names why', async () => {
    const t = await setUp([watching()]);
    const trouble = { reason: 'forbidden', message: 'pods is forbidden' };
    for (const phase of ['starting', 'listing', 'retrying', 'watching']) {
      t.cache.reports = [report(phase, { trouble })];
      expect(await t.failing()).toEqual(['caches', 'informers']);
    }
    expect(String(t.failures.at(-1)?.['error'])).toContain('cluster: v1, Kind=Pod has not synced');
    expect(String(t.failures.at(-1)?.['error'])).toContain('forbidden: pods is forbidden');
    t.cache.reports = [report('watching', { hasSynced: true })];
    expect(await t.failing()).toEqual([]);
  });

  it('does not wait for a list that the server cannot convert without this replica', async () => {
    const t = await setUp([watching()]);
    const why = 'conversion webhook for /v1, Kind=Pod failed: no endpoints';
    const trouble = { reason: 'internal-error', message: why };
    t.cache.reports = [report('retrying', { trouble })];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    t.manager.converters.register(pods, (object) => object);
    expect(await t.failing()).toEqual([]);
    // As lists from the cache of the server and watches are answered, see versions-that-differ.ts of e2e/conformance.
    const message = `storage is (re)initializing: failed to list /v2, Kind=Pod: ${why}`;
    t.cache.reports = [report('listing', { trouble: { reason: 'throttled', message } })];
    expect(await t.failing()).toEqual([]);
    // Another failure of the server, a list that is still under way, a right that is missing, and an informer of another
    // kind count as before.
    for (const reason of ['internal-error', 'throttled']) {
      t.cache.reports = [report('retrying', { trouble: { reason, message: 'storage is (re)initializing: no etcd' } })];
      expect(await t.failing()).toEqual(['caches', 'informers']);
    }
    t.cache.reports = [report('listing')];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    t.cache.reports = [report('retrying', { trouble: { reason: 'forbidden', message: '…' } })];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    t.cache.reports = [
      report('retrying', { trouble }),
      report('retrying', { kind: { ...pods, kind: 'Node' }, trouble }),
    ];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    t.cache.reports = [report('watching', { hasSynced: true })];
    expect(await t.failing()).toEqual([]);
  });

  it('has a grace for one that was lost, from when it was lost', async () => {
    const t = await setUp([watching()]);
    const lost = (): InformerReport[] => [report('retrying', { hasSynced: true })];
    t.cache.reports = lost();
    expect(await t.failing()).toEqual([]);
    await t.clock.advance(30_001);
    expect(await t.failing()).toEqual(['informers']);
    t.cache.reports = [report('watching', { hasSynced: true })];
    expect(await t.failing()).toEqual([]);
    // Nothing asked while it was lost: the informer says since when.
    t.cache.reports = [report('retrying', { hasSynced: true, state: { phase: 'retrying', since: 0 } })];
    expect(await t.failing()).toEqual(['informers']);
  });

  it('has a grace of its own for each informer of a kind, and names the one that is lost', async () => {
    const t = await setUp([watching()]);
    const reports = (red: string, blue: string): InformerReport[] => [
      report(red, { hasSynced: true, selection: 'red' }),
      report(blue, { hasSynced: true, selection: 'blue' }),
    ];
    t.cache.reports = reports('retrying', 'watching');
    expect(await t.failing()).toEqual([]);
    await t.clock.advance(25_000);
    t.cache.reports = reports('watching', 'retrying');
    expect(await t.failing()).toEqual([]);
    await t.clock.advance(30_000);
    expect(await t.failing()).toEqual([]);
    await t.clock.advance(1);
    expect(await t.failing()).toEqual(['informers']);
    expect(String(t.failures.at(-1)?.['error'])).toContain('cluster: v1, Kind=Pod (blue) is retrying for 30 s');
  });

  it.each(['connection', 'throttled', 'internal-error'])(
    'stays ready in an outage of the server: %s',
    async (reason) => {
      const t = await setUp([watching()]);
      const lost = (why: string): InformerReport[] => [
        report('retrying', {
          hasSynced: true,
          trouble: { reason: why, message: '…' },
          state: { phase: 'retrying', since: 0 },
        }),
      ];
      t.cache.reports = lost(reason);
      expect(await t.failing()).toEqual([]);
      await t.clock.advance(3_600_000);
      expect(await t.failing()).toEqual([]);
      // The server is back, and refuses: from now on it is this replica's trouble, with a grace.
      t.cache.reports = lost('forbidden');
      await t.clock.advance(30_000);
      expect(await t.failing()).toEqual([]);
      await t.clock.advance(1);
      expect(await t.failing()).toEqual(['informers']);
    },
  );

  it('begins the grace after an outage also where a watch was tried in between', async () => {
    const t = await setUp([watching()]);
    const state = { phase: 'retrying', since: 0 };
    t.cache.reports = [report('retrying', { hasSynced: true, trouble: { reason: 'connection', message: '…' }, state })];
    await t.clock.advance(60_000);
    expect(await t.failing()).toEqual([]);
    t.cache.reports = [report('watching', { hasSynced: true })];
    expect(await t.failing()).toEqual([]);
    // The trouble is one since the beginning of the outage.
    t.cache.reports = [report('retrying', { hasSynced: true, trouble: { reason: 'expired', message: '…' }, state })];
    expect(await t.failing()).toEqual([]);
    await t.clock.advance(30_001);
    expect(await t.failing()).toEqual(['informers']);
  });

  it.each([
    ['of leader work', {}, []],
    ['of work on every replica', { needLeaderElection: false }, ['caches']],
    ['that warm up on every replica', { warmup: async () => undefined }, ['caches']],
  ])('is no matter of leadership: sources %s that start', async (_name, runnable, failing) => {
    const sources = () => [{ name: 'poller', isRequired: true, phase: 'starting' }];
    const t = await setUp([{ sources, ...runnable }], {
      leaderElection: { newElector: (request) => new FakeElector(request) },
    });
    expect(await t.failing()).toEqual(failing);
  });

  it('has a limit in an outage where one is set, and none that never synced is spared', async () => {
    const t = await setUp([watching()], { health: { host, port: 0, informerGraceMs: 60_000 } });
    const trouble = { reason: 'connection', message: 'connect ECONNREFUSED' };
    t.cache.reports = [report('retrying', { hasSynced: true, trouble })];
    expect(await t.failing()).toEqual([]);
    await t.clock.advance(60_001);
    expect(await t.failing()).toEqual(['informers']);
    const own = await setUp([watching()]);
    own.cache.reports = [report('retrying', { hasSynced: false, trouble })];
    expect(await own.failing()).toEqual(['caches', 'informers']);
  });

  it('starts the informers of required sources on a standby, and returns them with their runnable', async () => {
    const electors: FakeElector[] = [];
    const t = await setUp([watching(), watching({ isRequired: false, kind: { ...pods, kind: 'Node' } })], {
      leaderElection: {
        newElector: (request) => {
          const elector = new FakeElector(request);
          electors.push(elector);
          return elector;
        },
      },
    });
    expect(t.manager.isLeader).toBe(false);
    expect(t.cache.loans).toEqual(['lent Pod']);
    t.cache.reports = [report('retrying')];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    const late: Runnable = { name: 'late', run: untilAborted, ...watching({ kind: { ...pods, kind: 'Job' } }) };
    const handle = t.manager.add(late);
    expect(t.cache.loans.at(-1)).toBe('lent Job');
    await handle.remove();
    expect(t.cache.loans.at(-1)).toBe('returned Job');
    const [first] = t.added;
    if (first !== undefined) await t.manager.remove(first);
    expect(t.cache.loans.at(-1)).toBe('returned Pod');
  });

  it('lends to a runnable what its sources need now, and takes the rest back', async () => {
    let changed: (() => void) | undefined;
    let kinds = ['Pod', 'Job', 'Job'];
    const t = await setUp([
      {
        adopt: ({ onSourcesChanged }) => {
          changed = onSourcesChanged;
        },
        sources: () => kinds.map((kind) => ({ kind: { ...pods, kind }, isRequired: true })),
      },
    ]);
    expect(t.cache.loans.splice(0)).toEqual(['lent Pod', 'lent Job']);
    kinds = ['Job', 'Node'];
    changed?.();
    changed?.();
    await settle();
    expect(t.cache.loans.splice(0)).toEqual(['lent Node', 'returned Pod']);
    const [runnable] = t.added;
    if (runnable !== undefined) await t.manager.remove(runnable);
    changed?.();
    expect(t.cache.loans.toSorted()).toEqual(['returned Job', 'returned Node']);
  });

  it('keeps what it lends to a runnable that is removed and added again at once, and loses no loan', async () => {
    const t = await setUp();
    const runnable: Runnable = { name: 'again', run: untilAborted, ...watching() };
    t.manager.add(runnable);
    const removed = t.manager.remove(runnable);
    const again = t.manager.add(runnable);
    await removed;
    expect(t.cache.loans).toEqual(['lent Pod', 'lent Pod', 'returned Pod']);
    t.cache.reports = [report('retrying', { isWanted: false })];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    await again.remove();
    expect(t.cache.loans.slice(3)).toEqual(['returned Pod']);
    expect(await t.failing()).toEqual([]);
  });

  it('does not count an informer that only optional sources need', async () => {
    const t = await setUp([watching({ isRequired: false })]);
    t.cache.reports = [report('retrying')];
    expect(await t.failing()).toEqual([]);
    t.manager.add({ name: 'another', run: untilAborted, ...watching() });
    expect(await t.failing()).toEqual(['caches', 'informers']);
  });

  it('counts what the user has declared, and not what nothing uses', async () => {
    const t = await setUp();
    t.cache.reports = [report('retrying')];
    expect(await t.failing()).toEqual(['caches', 'informers']);
    t.cache.reports = [report('retrying', { isWanted: false })];
    expect(await t.failing()).toEqual([]);
  });

  it('waits for required sources while an optional informer waits for a conversion', async () => {
    const poller = { name: 'poller', isRequired: true, phase: 'starting' };
    const t = await setUp([watching({ isRequired: false }), { sources: () => [poller] }]);
    t.manager.converters.register(pods, (object) => object);
    const trouble = { reason: 'internal-error', message: 'conversion webhook for /v1, Kind=Pod failed: no endpoints' };
    t.cache.reports = [report('retrying', { trouble })];
    expect(await t.failing()).toEqual(['caches']);
  });

  it('waits for required sources that are no informers', async () => {
    let phase = 'starting';
    const t = await setUp([{ sources: () => [{ name: 'poller', isRequired: true, phase }] }]);
    expect(await t.failing()).toEqual(['caches']);
    expect(String(t.failures.at(-1)?.['error'])).toContain('controller: poller is starting');
    phase = 'failed';
    expect(await t.failing()).toEqual(['caches']);
    phase = 'synced';
    expect(await t.failing()).toEqual([]);
    phase = 'cold'; // a standby
    expect(await t.failing()).toEqual([]);
  });
});
