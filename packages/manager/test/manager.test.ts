import { inject } from '@kctl/controller';
import { noopLogger, noopMetrics, type Logger } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ManagerOptions, Runnable } from '../src/index.js';
import { createHttpServer, createManager, isManagerError, isRunnableError, isStopTimeoutError } from '../src/index.js';
import { FakeCache, fakeCluster, FakeElector, journaled, untilAborted } from './fakes.js';
import type { Journal } from './fakes.js';

function setUp(options: Partial<ManagerOptions> = {}, isSynced = true, journal: Journal = []) {
  const clock = new FakeClock();
  const cache = new FakeCache(journal, isSynced);
  const events = {
    run: async (signal: AbortSignal) => {
      await untilAborted(signal);
      journal.push('stop events');
    },
  };
  const manager = createManager({ cluster: fakeCluster(cache, events), clock, ...options });
  const stop = new AbortController();
  const add = (name: string, rest: Partial<Runnable> = {}) => manager.add(journaled(journal, name, rest));
  return { journal, clock, cache, manager, stop, add };
}

const electing = (journal: Journal, electors: FakeElector[]): Partial<ManagerOptions> => ({
  leaderElection: {
    newElector: (request) => {
      const elector = new FakeElector(request, journal);
      electors.push(elector);
      return elector;
    },
  },
});

describe('Manager.run', () => {
  it('starts and stops the groups in order, gives the lease up after all of them, and ends events last', async () => {
    const journal: Journal = [];
    const electors: FakeElector[] = [];
    const t = setUp(electing(journal, electors), true, journal);
    const { manager, stop } = t;
    const add = (name: string, rest: Partial<Runnable>) => manager.add(journaled(t.journal, name, rest));
    add('leader', {});
    add('other', { needLeaderElection: false });
    add('webhook', { group: 'webhooks' });
    add('server', { group: 'servers' });
    add('warm', { warmup: async () => void t.journal.push('warm-up') });
    const done = manager.run(stop.signal);
    await settle();
    expect(t.journal).toEqual([
      'start server',
      'start webhook',
      'start cache',
      'cache synced',
      'start other',
      'warm-up',
    ]);
    electors[0]?.win();
    await manager.elected;
    expect(t.journal.slice(6)).toEqual(['start leader', 'start warm']);
    t.journal.length = 0;
    stop.abort();
    await done;
    expect(t.journal).toEqual([
      'stop other',
      'stop leader',
      'stop warm',
      'stop cache',
      'stop webhook',
      'stop server',
      'lease released',
      'stop events',
    ]);
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('keeps the lease while a leader runnable finishes', async () => {
    const electors: FakeElector[] = [];
    const t = setUp(electing([], electors));
    const finish = Promise.withResolvers<undefined>();
    t.manager.add({ name: 'slow', run: async () => finish.promise });
    const done = t.manager.run(t.stop.signal);
    await settle();
    electors[0]?.win();
    await t.manager.elected;
    t.stop.abort();
    await settle();
    expect(electors[0]?.held).toBe(true);
    finish.resolve(undefined);
    await done;
    expect(electors[0]?.held).toBe(false);
  });

  it('waits for the caches before it starts what reads them', async () => {
    const t = setUp({}, false);
    t.add('other', { needLeaderElection: false });
    const done = t.manager.run(t.stop.signal);
    await settle();
    expect(t.journal).toEqual(['start cache']);
    t.cache.synced.resolve(undefined);
    await settle();
    expect(t.journal).toContain('start other');
    t.stop.abort();
    await done;
  });

  it.each(['before the start', 'after the start'])(
    'stops what removes itself in the first step of its run (%s)',
    async (when) => {
      const t = setUp({});
      const signals: AbortSignal[] = [];
      let removed: Promise<void> | undefined;
      const warmups: AbortSignal[] = [];
      const runnable: Runnable = {
        name: 'short',
        needLeaderElection: false,
        run: async (signal) => {
          signals.push(signal);
          removed = t.manager.remove(runnable);
          await untilAborted(signal);
        },
        warmup: async (signal) => void warmups.push(signal),
      };
      const other = journaled(t.journal, 'second', { needLeaderElection: false });
      if (when === 'before the start') t.manager.add(runnable);
      const done = t.manager.run(t.stop.signal);
      await settle();
      if (when === 'after the start') t.manager.add(runnable);
      await settle();
      expect(signals.map(({ aborted: isAborted }) => isAborted)).toEqual([true]);
      await removed;
      expect(warmups.every(({ aborted: isAborted }) => isAborted)).toBe(true);
      // It is gone: it may be added again.
      t.manager.add({ ...runnable, run: async () => undefined });
      t.manager.add(other);
      await settle();
      expect(t.journal).toContain('start second');
      t.stop.abort();
      await done;
      expect(t.clock.pendingTimers).toBe(0);
    },
  );

  it('does not start what another one has removed in its first step', async () => {
    const t = setUp({});
    const second = journaled(t.journal, 'second', { needLeaderElection: false });
    t.manager.add({ name: 'first', needLeaderElection: false, run: async () => void t.manager.remove(second) });
    t.manager.add(second);
    const done = t.manager.run(t.stop.signal);
    await settle();
    expect(t.journal).not.toContain('start second');
    t.stop.abort();
    await done;
  });

  it('leaves the election open at a clean stop: no chain on it rejects; a failure is reported', async () => {
    const electors: FakeElector[] = [];
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    try {
      const t = setUp(electing([], electors));
      let isElected = false;
      const settled: unknown[] = [];
      void t.manager.elected.then(() => (isElected = true));
      void t.manager.elected.then(() => 1).finally(() => settled.push('finally'));
      void (async () => {
        await t.manager.elected;
        settled.push('awaited');
      })();
      const done = t.manager.run(t.stop.signal);
      await settle();
      t.stop.abort();
      await done;
      await new Promise((resolve) => setImmediate(resolve));
      expect([isElected, settled, rejections]).toEqual([false, [], []]);
      const failing = setUp(electing([], []));
      failing.manager.add({ name: 'bad', needLeaderElection: false, run: () => Promise.reject(new Error('no')) });
      await expect(failing.manager.run(failing.stop.signal)).rejects.toThrow('no');
      await expect(failing.manager.elected).rejects.toThrow('no');
    } finally {
      process.off('unhandledRejection', onRejection);
    }
  });

  it('never runs leader code when it stops before it is elected', async () => {
    const electors: FakeElector[] = [];
    const t = setUp(electing([], electors));
    t.add('leader');
    const done = t.manager.run(t.stop.signal);
    await settle();
    t.stop.abort();
    electors[0]?.win();
    await done;
    expect(t.journal).not.toContain('start leader');
  });

  it('can be run once', async () => {
    const t = setUp();
    t.stop.abort();
    await t.manager.run(t.stop.signal);
    await expect(t.manager.run(t.stop.signal)).rejects.toThrow('manager already started');
  });

  it('reports a failure that happens while a group is still starting', async () => {
    const t = setUp({}, false);
    t.manager.add({
      name: 'webhook server',
      group: 'webhooks',
      run: async () => {
        await settle();
        throw new Error('no certificate');
      },
    });
    // The cache never syncs: it waits for a conversion webhook that cannot start.
    const error: unknown = await t.manager.run(t.stop.signal).catch((failure: unknown) => failure);
    expect(isRunnableError(error) && error.runnable).toBe('webhook server');
    expect(error).toMatchObject({ message: 'webhook server failed: no certificate' });
  });

  it('goes on when a runnable is finished, and stops when one fails', async () => {
    const t = setUp();
    const fail = Promise.withResolvers<never>();
    t.manager.add({ name: 'one-off', run: async () => undefined });
    t.manager.add({ name: 'broken', run: () => fail.promise });
    t.add('other', { needLeaderElection: false });
    const done = t.manager.run(t.stop.signal);
    await settle();
    expect(t.journal).not.toContain('stop other');
    fail.reject(new Error('boom'));
    await expect(done).rejects.toThrow('broken failed: boom');
    expect(t.journal).toContain('stop other');
    expect(t.journal.at(-1)).toBe('stop events');
  });

  it('fails before anything runs when an elector cannot be made', async () => {
    const t = setUp({
      leaderElection: {
        newElector: () => {
          throw new RangeError('renewDeadlineMs must be less than leaseDurationMs');
        },
      },
    });
    await expect(t.manager.run(t.stop.signal)).rejects.toThrow('renewDeadlineMs');
    expect(t.journal).toEqual([]);
  });
});

describe('Manager stop', () => {
  it('ends with the first of several failures, and logs the others', async () => {
    const logged: unknown[] = [];
    const logger: Logger = {
      ...noopLogger,
      error: (message, fields) => void logged.push([message, String(fields?.['error'])]),
      child: () => logger,
    };
    const manager = createManager({ cluster: fakeCluster(), logger });
    for (const name of ['first', 'second'])
      manager.add({ name, needLeaderElection: false, run: () => Promise.reject(new Error(`no ${name}`)) });
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('no first');
    expect(logged).toEqual([
      ['error received after stop sequence was engaged', 'RunnableError: second failed: no second'],
    ]);
  });

  it('ends with a failure that came just before the abort', async () => {
    const stop = new AbortController();
    const manager = createManager({ cluster: fakeCluster() });
    const failing = Promise.withResolvers<never>();
    manager.add({ name: 'failing', needLeaderElection: false, run: () => failing.promise });
    const done = manager.run(stop.signal);
    done.catch(() => undefined); // awaited below
    await settle();
    failing.reject(new Error('too late?'));
    await Promise.resolve();
    await Promise.resolve();
    stop.abort();
    await expect(done).rejects.toThrow('too late?');
  });

  it('names the stragglers and what they were doing when the grace period ends', async () => {
    const t = setUp();
    t.manager.add({ name: 'stuck', inFlight: ['default/a'], run: () => new Promise(() => undefined) });
    t.manager.add({ name: 'also stuck', needLeaderElection: false, run: () => new Promise(() => undefined) });
    const done = t.manager.run(t.stop.signal).catch((error: unknown) => error);
    await t.manager.elected;
    t.stop.abort();
    await t.clock.advance(29_999);
    expect(t.clock.pendingTimers).toBe(1);
    await t.clock.advance(1);
    const error = await done;
    expect(isStopTimeoutError(error) && error.stragglers).toEqual([
      { runnable: 'also stuck', group: 'others', work: [] },
      { runnable: 'stuck', group: 'leader', work: ['default/a'] },
    ]);
    expect(error).toMatchObject({
      message:
        'failed waiting for all runnables to end within grace period of 30000 ms: still running: also stuck; stuck (default/a)',
    });
  });

  it('waits for nobody with a grace period of 0, and that is no failure', async () => {
    const t = setUp({ gracefulShutdownTimeoutMs: 0 });
    t.manager.add({ run: () => new Promise(() => undefined) });
    const done = t.manager.run(t.stop.signal);
    await t.manager.elected;
    t.stop.abort();
    await done;
  });

  it.each([-1, Infinity])('waits for ever with %s', async (gracefulShutdownTimeoutMs) => {
    const t = setUp({ gracefulShutdownTimeoutMs });
    const finish = Promise.withResolvers<undefined>();
    t.manager.add({ run: async () => finish.promise });
    const done = t.manager.run(t.stop.signal);
    await t.manager.elected;
    t.stop.abort();
    await t.clock.advance(1e12);
    finish.resolve(undefined);
    await done;
  });

  it('keeps both the failure of the run and that of the stop', async () => {
    const t = setUp({ gracefulShutdownTimeoutMs: 10 });
    const fail = Promise.withResolvers<never>();
    t.manager.add({ name: 'broken', run: () => fail.promise });
    t.manager.add({ name: 'stuck', run: () => new Promise(() => undefined) });
    const done = t.manager.run(t.stop.signal).catch((error: unknown) => error);
    await t.manager.elected;
    fail.reject(new Error('boom'));
    await t.clock.advance(10);
    const error = await done;
    expect(error).toBeInstanceOf(AggregateError);
    const errors = error instanceof AggregateError ? error.errors : [];
    expect([errors.some(isRunnableError), errors.some(isStopTimeoutError)]).toEqual([true, true]);
  });

  it('takes a rejection with the abort for a stop', async () => {
    const t = setUp();
    t.manager.add({
      run: async (signal) => {
        await untilAborted(signal);
        throw signal.reason;
      },
    });
    const done = t.manager.run(t.stop.signal);
    await t.manager.elected;
    t.stop.abort(new Error('enough'));
    await done;
  });
});

describe('Manager leader election', () => {
  it('ends at once when the lease is lost', async () => {
    const electors: FakeElector[] = [];
    const t = setUp(electing([], electors));
    t.manager.add({ name: 'deaf', run: () => new Promise(() => undefined) });
    const done = t.manager.run(t.stop.signal).catch((error: unknown) => error);
    await settle();
    electors[0]?.win();
    await t.manager.elected;
    expect(t.manager.isLeader).toBe(true);
    electors[0]?.lose();
    expect(await done).toMatchObject({ code: 'KCTL_LEADER_ELECTION_LOST', message: 'leader election lost' });
    expect(t.manager.isLeader).toBe(false);
  });

  it('stops and starts leader runnables when it may rejoin', async () => {
    const electors: FakeElector[] = [];
    const { leaderElection } = electing([], electors);
    const t = setUp(leaderElection === undefined ? {} : { leaderElection: { ...leaderElection, onLost: 'rejoin' } });
    t.add('leader');
    const done = t.manager.run(t.stop.signal);
    await settle();
    electors[0]?.win();
    await t.manager.elected;
    electors[0]?.lose();
    await settle();
    expect(t.journal.filter((line) => line.endsWith('leader'))).toEqual(['start leader', 'stop leader']);
    t.add('added meanwhile');
    electors[0]?.win();
    await settle();
    expect(t.journal).toContain('start added meanwhile');
    t.stop.abort();
    await done;
    expect(t.journal.filter((line) => line.endsWith('leader'))).toEqual([
      'start leader',
      'stop leader',
      'start leader',
      'stop leader',
    ]);
  });

  it('ends when a leader runnable does not stop in time for a rejoin', async () => {
    const electors: FakeElector[] = [];
    const { leaderElection } = electing([], electors);
    const t = setUp(leaderElection === undefined ? {} : { leaderElection: { ...leaderElection, onLost: 'rejoin' } });
    t.manager.add({ name: 'deaf', run: () => new Promise(() => undefined) });
    const done = t.manager.run(t.stop.signal).catch((error: unknown) => error);
    await settle();
    electors[0]?.win();
    await t.manager.elected;
    electors[0]?.lose();
    await t.clock.advance(9_999);
    expect(electors[0]?.held).toBe(true);
    await t.clock.advance(1);
    expect(await done).toMatchObject({ code: 'KCTL_LEADER_ELECTION_LOST' });
  });

  it('elects each scope by its own lease', async () => {
    const electors: FakeElector[] = [];
    const t = setUp(electing([], electors));
    t.add('a');
    t.add('b', { leaderElectionScope: 'b' });
    const done = t.manager.run(t.stop.signal);
    await settle();
    expect(electors.map(({ request }) => request.scope)).toEqual(['', 'b']);
    electors[1]?.win();
    await settle();
    expect(t.journal.filter((line) => /^start [ab]$/.test(line))).toEqual(['start b']);
    t.stop.abort();
    await done;
  });
});

describe('Manager.add', () => {
  it.each(['straight after run', 'while the caches sync', 'while it competes'])(
    'never lets a scope that is added %s lead without its lease',
    async (when) => {
      const electors: FakeElector[] = [];
      const t = setUp(electing([], electors), when !== 'while the caches sync');
      const done = t.manager.run(t.stop.signal);
      if (when !== 'straight after run') await settle();
      t.add('late', { leaderElectionScope: 'b' });
      t.cache.synced.resolve(undefined);
      await settle();
      expect(electors.map(({ request }) => request.scope)).toEqual(['', 'b']);
      expect(t.journal).not.toContain('start late');
      electors[1]?.win();
      await settle();
      expect(t.journal).toContain('start late');
      t.stop.abort();
      await done;
    },
  );

  it('starts what is added later at once, and stops what is removed', async () => {
    const t = setUp();
    const done = t.manager.run(t.stop.signal);
    await t.manager.elected;
    const handle = t.add('late');
    expect(t.journal).toContain('start late');
    await handle.remove();
    expect(t.journal).toContain('stop late');
    t.stop.abort();
    await done;
    expect(t.journal.filter((line) => line === 'stop late')).toHaveLength(1);
  });

  it('is removed by its own handle alone, not by that of an earlier add', async () => {
    const t = setUp();
    const runnable = journaled(t.journal, 'again');
    const first = t.manager.add(runnable);
    const done = t.manager.run(t.stop.signal);
    await settle();
    await first.remove();
    const second = t.manager.add(runnable);
    await settle();
    await first.remove();
    const seen = (): string[] => t.journal.filter((line) => line.endsWith('again'));
    expect(seen()).toEqual(['start again', 'stop again', 'start again']);
    await second.remove();
    expect(seen()).toHaveLength(4);
    t.stop.abort();
    await done;
  });

  it('lets a leader runnable that is added later wait for the win', async () => {
    const electors: FakeElector[] = [];
    const t = setUp(electing([], electors));
    const done = t.manager.run(t.stop.signal);
    await settle();
    t.add('late');
    expect(t.journal).not.toContain('start late');
    electors[0]?.win();
    await t.manager.elected;
    expect(t.journal).toContain('start late');
    t.stop.abort();
    await done;
  });

  it('takes nothing once the stop began', async () => {
    const t = setUp();
    t.stop.abort();
    await t.manager.run(t.stop.signal);
    expect(() => t.add('late')).toThrow("can't accept new runnable as stop procedure is already engaged");
  });

  it('reports the failure of what was added later', async () => {
    const t = setUp();
    const done = t.manager.run(t.stop.signal).catch((error: unknown) => error);
    await t.manager.elected;
    t.manager.add(() => Promise.reject(new Error('late and broken')));
    expect(await done).toMatchObject({ message: expect.stringContaining('late and broken') });
  });

  it('reports that what was added later does not get ready', async () => {
    const t = setUp();
    const done = t.manager.run(t.stop.signal).catch((error: unknown) => error);
    await t.manager.elected;
    t.add('late cache', { group: 'caches', waitForReady: () => Promise.reject(new Error('forbidden')) });
    expect(await done).toMatchObject({ message: 'late cache failed: forbidden', runnable: 'late cache' });
  });

  it('refuses a second controller of the same name, unless told not to', () => {
    const t = setUp();
    const controller = { runnableType: 'controller' };
    t.add('pods', controller);
    expect(() => t.add('pods', controller)).toThrow('controller with name pods already exists');
    expect(() => t.add('pods', { ...controller, settings: { skipNameValidation: true } })).not.toThrow();
  });

  it('lets two managers in one process not see each other', () => {
    const controller = { runnableType: 'controller' };
    setUp().add('pods', controller);
    expect(() => setUp().add('pods', controller)).not.toThrow();
  });

  it('injects what is asked for', async () => {
    const t = setUp();
    let isTheCache = false;
    t.manager.add(
      inject({ cache: true, stopSignal: true }, ({ cache }: { cache: object; stopSignal: AbortSignal }): Runnable => {
        isTheCache = cache === t.cache;
        return { run: async () => undefined };
      }),
    );
    expect(isTheCache).toBe(true);
  });

  it('names what is missing', () => {
    const t = setUp();
    const needy = inject({ mapper: true }, (_: { mapper: object }): Runnable => ({ run: async () => undefined }));
    expect(() => t.manager.add(needy)).toThrow('a runnable needs "mapper", which the manager does not have');
  });

  it('does not compile with a dependency that the manager does not know', () => {
    const needy = inject({ database: true }, (_: { database: Date }): Runnable => ({ run: async () => undefined }));
    const t = setUp();
    // @ts-expect-error database is not there
    expect(() => t.manager.add(needy)).toThrow('"database"');
    const rich = createManager({ cluster: fakeCluster(), dependencies: { database: new Date(0) } });
    expect(() => rich.add(needy)).not.toThrow();
    expectTypeOf(rich.dependencies.database).toEqualTypeOf<Date>();
  });

  it('runs a further cluster with the caches', async () => {
    const t = setUp();
    const other: Journal = [];
    t.manager.add({ ...fakeCluster(new FakeCache(other)), name: 'other' });
    const done = t.manager.run(t.stop.signal);
    await t.manager.elected;
    expect(other).toEqual(['start cache', 'cache synced']);
    t.stop.abort();
    await done;
    expect(other).toContain('stop cache');
  });
});

describe('Manager endpoints', () => {
  it.each([
    [{ gracefulShutdownTimeoutMs: NaN }, 'gracefulShutdownTimeoutMs NaN is not valid: expected a number of ms ≥ 0'],
    [{ gracefulShutdownTimeoutMs: '30s' as never }, 'gracefulShutdownTimeoutMs "30s" is not valid'],
    [{ health: { port: -1 } }, 'health.port -1 is not valid: expected an integer ≥ 0 and ≤ 65535; 0 takes any free'],
    [{ health: { port: 70_000 } }, 'health.port 70000 is not valid'],
    [{ health: { port: 0, informerGraceMs: NaN } }, 'health.informerGraceMs NaN is not valid'],
    [{ metricsServer: { port: 1.5 } }, 'metricsServer.port 1.5 is not valid'],
    [{ profiling: { port: NaN } }, 'profiling.port NaN is not valid'],
    [
      { leaderElection: { newElector: () => ({ run: untilAborted }), rejoinTimeoutMs: -1 } },
      'leaderElection.rejoinTimeoutMs -1 is not valid',
    ],
    [{ controllers: { groupKindConcurrency: { Pod: -1 } } }, 'controllers.groupKindConcurrency["Pod"] -1 is not valid'],
    [{ cluster: undefined as never }, 'cluster is not set: expected what createCluster returns'],
  ])('refuses %o when it is made', (options, problem) => {
    expect(() => createManager({ cluster: fakeCluster(), ...options })).toThrow(`createManager: ${problem}`);
  });

  it('names every option that is not valid at once', () => {
    const make = (): unknown =>
      createManager({ cluster: fakeCluster(), gracefulShutdownTimeoutMs: NaN, health: { port: -1 } });
    expect(make).toThrow(/gracefulShutdownTimeoutMs NaN.*; health\.port -1/);
    const server = { name: 'x', port: -1, handlers: [], logger: noopLogger, clock: new FakeClock() };
    expect(() => createHttpServer(server)).toThrow('x: port -1 is not valid');
  });

  it('runs its webhook server also where a check of the name of its own is there', () => {
    const webhookServer = { register: untilAborted, has: () => false, run: untilAborted } as never;
    const manager = createManager({ cluster: fakeCluster(), health: { port: 0 }, webhookServer });
    manager.addReadyzCheck('webhooks', () => undefined);
    expect(manager.webhookServer).toBe(webhookServer);
  });

  it('refuses what cannot be served', () => {
    expect(() => createManager({ cluster: fakeCluster(), metricsServer: {} })).toThrow(isManagerErrorText);
    expect(() => setUp().manager.addMetricsHandler('/x', () => true)).toThrow('there is no metrics server');
    const metrics = { ...noopMetrics, export: async () => ({ contentType: 'text/plain', body: '' }) };
    const served = createManager({ cluster: fakeCluster(), metrics, metricsServer: { port: 0 } });
    for (const path of ['debug', '', '/x?y', undefined as never])
      expect(() => served.addMetricsHandler(path, () => true)).toThrow('path');
    expect(() => served.addMetricsHandler('/x', undefined as never)).toThrow('the handler of /x is undefined');
    expect(() => createManager({ cluster: fakeCluster(), profiling: { port: 0, host: '0.0.0.0' } })).toThrow(
      'loopback',
    );
    const { manager } = setUp();
    manager.addHealthzCheck('ping', () => undefined);
    expect(() => manager.addHealthzCheck('ping', () => undefined)).toThrow('"ping" is taken already');
  });
});

const isManagerErrorText = 'metricsServer needs metrics that can be exported';

it('guards by code', () => {
  expect(isManagerError(Object.assign(new Error('x'), { code: 'KCTL_MANAGER' }))).toBe(true);
  expect(isManagerError(new Error('x'))).toBe(false);
});
