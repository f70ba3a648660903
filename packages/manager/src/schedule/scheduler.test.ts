import { noopLogger, noopMetrics } from '@kctl/telemetry';
import { sleep } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createManager } from '../index.js';
import { resolveSchedule } from './occurrences.js';
import { createScheduleMetrics } from './schedule-metrics.js';
import type { ScheduleMetrics } from './schedule-metrics.js';
import type { ScheduleContext, ScheduleOptions, ScheduleStore } from './schedule.js';
import { Scheduler } from './scheduler.js';

const minute = 60_000;
const hour = 60 * minute;

/** A store in memory that fails as often as a test says. */
class MemoryStore implements ScheduleStore {
  readonly saved: number[] = [];
  failures = 0;
  readonly #start: number | undefined;

  constructor(start?: number) {
    this.#start = start;
  }

  async load(): Promise<number | undefined> {
    if (this.failures-- > 0) throw new Error('the server is away');
    return this.saved.at(-1) ?? this.#start;
  }

  async save(_name: string, dueAt: number): Promise<void> {
    if (this.failures-- > 0) throw new Error('the server is away');
    this.saved.push(dueAt);
  }
}

const clocks: AbortController[] = [];
afterEach(() => {
  for (const stop of clocks.splice(0)) stop.abort();
});

function session(options: Omit<ScheduleOptions, 'name' | 'run'> & Partial<ScheduleOptions>, store?: MemoryStore) {
  const clock = new FakeClock();
  const runs: number[] = [];
  const log: string[] = [];
  const note = (message: string): void => void log.push(message);
  const stop = new AbortController();
  clocks.push(stop);
  const origin = clock.now();
  const counted: string[] = [];
  const metrics: ScheduleMetrics = {
    began: () => undefined,
    ended: (result) => void counted.push(result),
    omitted: (result) => void counted.push(result),
  };
  const run = (context: ScheduleContext): unknown => {
    runs.push(context.dueAt - origin);
    return options.run?.(context);
  };
  const start = (): Scheduler => {
    const scheduler = new Scheduler({
      schedule: resolveSchedule({ name: 'sweep', ...options, run }),
      store,
      leaderElectionScope: undefined,
      clock,
      random: () => 0.5,
      logger: { ...noopLogger, info: note, error: note, warn: note, child: () => ({ ...noopLogger, error: note }) },
      metrics,
    });
    return scheduler;
  };
  const scheduler = start();
  return { clock, runs, log, counted, stop, origin, scheduler, running: scheduler.run(stop.signal) };
}

describe('a schedule', () => {
  it('runs at its interval, the first time after one, or at once where that is asked for', async () => {
    const later = session({ every: '10m' });
    await later.clock.advance(30 * minute);
    expect(later.runs).toEqual([10 * minute, 20 * minute, 30 * minute]);
    const now = session({ every: 10 * minute, runAtStart: true });
    await now.clock.advance(10 * minute);
    expect(now.runs).toEqual([0, 10 * minute]);
  });

  it('runs by a cron expression, in UTC', async () => {
    const { clock, runs, origin } = session({ cron: '*/15 * * * *' });
    await clock.advance(hour);
    expect(runs).toHaveLength(4);
    expect(runs.every((run) => (run + origin) % (15 * minute) === 0)).toBe(true);
  });

  it('begins up to its jitter later, and still counts from the occurrence', async () => {
    const { clock, runs } = session({ every: '10m', jitter: '2m' });
    await clock.advance(11 * minute - 1);
    expect(runs).toEqual([]);
    await clock.advance(1);
    expect(runs).toEqual([10 * minute]);
    await clock.advance(10 * minute);
    expect(runs).toEqual([10 * minute, 20 * minute]);
  });

  it('goes on from the last run that is remembered, and makes up once for what was missed', async () => {
    const clock = new FakeClock();
    const store = new MemoryStore(clock.now() - 35 * minute);
    const { runs, counted, ...one } = session({ every: '10m' }, store);
    await settle();
    // Due at -25, -15 and -5 minutes: the last of them.
    expect(runs).toEqual([-5 * minute]);
    await one.clock.advance(5 * minute);
    expect(runs).toEqual([-5 * minute, 5 * minute]);
    expect(store.saved.map((time) => time - one.origin)).toEqual(runs);
    expect(counted).toEqual(['success', 'success']);
    one.stop.abort();
    await one.running;
    // Another process, at once: nothing is repeated.
    const next = session({ every: '10m' }, new MemoryStore(new FakeClock().now() - 1));
    await settle();
    expect(next.runs).toEqual([]);
    const nightly = session({ cron: '0 3 * * *' }, new MemoryStore(new FakeClock().now() - 400 * 24 * hour));
    await settle();
    expect(nightly.runs).toHaveLength(1);
    expect(nightly.runs[0]).toBeGreaterThan(-24 * hour);
  });

  it('does not begin what is later than its starting deadline', async () => {
    const store = new MemoryStore(new FakeClock().now() - 16 * minute);
    const { clock, runs, counted } = session({ every: '10m', startingDeadline: '5m' }, store);
    await settle();
    expect([runs, counted]).toEqual([[], ['missed']]);
    await clock.advance(4 * minute);
    expect(runs).toEqual([4 * minute]);
  });

  it('skips an occurrence while a run is under way', async () => {
    const clocked: { clock?: FakeClock } = {};
    const { clock, runs, counted } = session({
      every: '10m',
      run: () => sleep(25 * minute, clocked.clock === undefined ? {} : { clock: clocked.clock }),
    });
    clocked.clock = clock;
    await clock.advance(40 * minute);
    expect(runs).toEqual([10 * minute, 40 * minute]);
    expect(counted).toEqual(['skipped', 'skipped', 'success']);
  });

  it('lets runs overlap where that is allowed, and replaces one where that is asked for', async () => {
    const open: PromiseWithResolvers<undefined>[] = [];
    const allowed = session({
      every: '10m',
      overlap: 'allow',
      run: () => {
        const one = Promise.withResolvers<undefined>();
        open.push(one);
        return one.promise;
      },
    });
    await allowed.clock.advance(20 * minute);
    expect(allowed.runs).toHaveLength(2);
    for (const one of open) one.resolve(undefined);

    const aborted: string[] = [];
    const replaced = session({
      every: '10m',
      overlap: 'replace',
      run: ({ signal, dueAt }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            aborted.push(`${(dueAt - replaced.origin) / minute}: ${String(signal.reason)}`);
            reject(new Error('aborted'));
          }),
        ),
    });
    await replaced.clock.advance(20 * minute);
    expect(replaced.runs).toEqual([10 * minute, 20 * minute]);
    expect(aborted).toEqual(['10: AbortError: the run was replaced by the next occurrence']);
  });

  it('goes on after a run that fails, and aborts one that takes too long', async () => {
    const { clock, counted, log } = session({
      every: '10m',
      timeout: '1m',
      run: ({ dueAt, signal }) => {
        if (dueAt % (20 * minute) === 0) throw new Error('no');
        return new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    await clock.advance(20 * minute);
    await clock.advance(minute);
    expect(counted).toEqual(['error', 'error']);
    expect(log).toEqual(Array(2).fill('the run of a schedule failed, the next occurrence will try again'));
  });

  it('waits for a store that cannot be read, and runs where it cannot be written', async () => {
    const store = new MemoryStore();
    store.failures = 2;
    const { clock, runs, log } = session({ every: '10m' }, store);
    await clock.advance(10 * minute);
    expect(runs).toEqual([10 * minute]);
    expect(log).toEqual(Array(2).fill('cannot read the last run of a schedule, it waits until it can'));
    store.failures = 1;
    await clock.advance(10 * minute);
    expect(runs).toEqual([10 * minute, 20 * minute]);
    expect(log.at(-1)).toBe('cannot remember the run of a schedule: another process may repeat it');
  });

  it.each<[unknown, ScheduleOptions['cron']]>([
    [Number.NaN, undefined],
    [Number.NaN, '* * * * *'],
    ['2026-01-01T00:00:00Z', undefined],
    [Infinity, undefined],
    [{}, '* * * * *'],
  ])('waits for a store that returns %s, which is not a time', async (loaded, cron) => {
    const store = new MemoryStore(loaded as number);
    const t = session(cron === undefined ? { every: minute } : { cron }, store);
    await t.clock.advance(3 * minute);
    expect(t.runs).toEqual([]);
    expect(new Set(t.log)).toEqual(new Set(['cannot read the last run of a schedule, it waits until it can']));
    store.saved.push(t.clock.now());
    await t.clock.advance(3 * minute);
    expect(t.runs.length).toBeGreaterThan(0);
  });

  it.each(['load', 'save'] as const)('ends while %s of its store hangs', async (verb) => {
    const store = new MemoryStore();
    store[verb] = (): Promise<never> => new Promise(() => undefined);
    const t = session({ every: minute }, store);
    await t.clock.advance(2 * minute);
    expect(t.runs).toEqual([]);
    t.stop.abort();
    await t.running;
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('does not repeat in a later term what it has begun and could not save', async () => {
    const store = new MemoryStore(new FakeClock().now());
    const { clock, runs, scheduler, stop, running } = session({ every: '10m' }, store);
    await settle();
    store.failures = 1;
    await clock.advance(10 * minute);
    expect([runs, store.saved]).toEqual([[10 * minute], []]);
    stop.abort();
    await running;
    const again = new AbortController();
    clocks.push(again);
    void scheduler.run(again.signal);
    await clock.advance(minute);
    expect(runs).toEqual([10 * minute]);
    await clock.advance(9 * minute);
    expect(runs).toEqual([10 * minute, 20 * minute]);
  });

  it('makes up in a later term for an occurrence that the loss of the lease kept from beginning', async () => {
    const store = new MemoryStore();
    const { clock, runs, scheduler, stop, running } = session({ every: '10m' }, store);
    await settle();
    const save = vi.spyOn(store, 'save').mockImplementationOnce(() => {
      stop.abort();
      return Promise.reject(new Error('the lease is lost'));
    });
    await clock.advance(10 * minute);
    await running;
    expect([save.mock.calls.length, runs]).toEqual([1, []]);
    const again = new AbortController();
    clocks.push(again);
    await store.save('sweep', clock.now() - 10 * minute);
    void scheduler.run(again.signal);
    await settle();
    expect(runs).toEqual([10 * minute]);
  });

  it('takes a remembered time of the future for now: a clock that was ahead does not silence it', async () => {
    const { clock, runs } = session({ every: '10m' }, new MemoryStore(new FakeClock().now() + 1000 * hour));
    await clock.advance(10 * minute);
    expect(runs).toEqual([10 * minute]);
  });

  it.each([
    ['before its first occurrence', 5, []],
    ['between two', 15, [10 * minute]],
  ])('keeps its interval although the wall clock was set back, %s', async (_when, minutes, before) => {
    const { clock, runs } = session({ every: '10m' });
    await clock.advance(minutes * minute);
    expect(runs).toEqual(before);
    clock.setWallTime(clock.now() - 24 * hour);
    await clock.advance(11 * minute);
    expect(runs).toHaveLength(before.length + 1);
    await clock.advance(20 * minute);
    expect(runs).toHaveLength(before.length + 3);
  });

  it('does not repeat a time of a cron expression when the wall clock is set back', async () => {
    const { clock, runs } = session({ cron: '*/15 * * * *' });
    await clock.advance(16 * minute);
    clock.setWallTime(clock.now() - 5 * minute);
    await clock.advance(15 * minute);
    expect(runs).toEqual([15 * minute]);
    await clock.advance(5 * minute);
    expect(runs).toEqual([15 * minute, 30 * minute]);
  });

  it('waits at the stop for the run that is under way, whose signal is aborted', async () => {
    const seen: string[] = [];
    const { clock, stop, running, scheduler } = session({
      every: '10m',
      run: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await settle();
        seen.push('ended');
      },
    });
    await clock.advance(10 * minute);
    expect(scheduler.inFlight).toEqual(['schedule sweep']);
    stop.abort();
    await running;
    expect(seen).toEqual(['ended']);
    expect(scheduler.inFlight).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ name: 'Sweep' }, 'name is not valid'],
    [{}, 'give every or cron, one of them'],
    [{ every: '1m', cron: '* * * * *' }, 'give every or cron, one of them'],
    [{ every: 'soon' }, 'every "soon" is not valid: expected a number of ms, or a string'],
    [{ every: 5 }, 'every 5 is not valid'],
    [{ every: '1m', jitter: '-1s' }, 'jitter -1000 is not valid'],
    [{ every: '1m', overlap: 'skip' }, 'overlap "skip" is not valid: expected "forbid", "allow" or "replace"'],
    [{ every: '1m', run: undefined }, 'run undefined is not valid'],
    [{ cron: '61 * * * *' }, 'cron "61 * * * *" is not valid'],
    [{ everyMs: 5 }, 'unknown option "everyMs": did you mean "every"'],
    [{ every: '1m', timeout: 0 }, 'timeout 0 is not valid: expected a number > 0'],
  ])('refuses %j', (options, message) => {
    expect(() => resolveSchedule({ name: 'sweep', run: () => undefined, ...options })).toThrow(message);
  });

  it('measures without a sink', () => {
    expect(() => createScheduleMetrics(noopMetrics, 'x').began(0)).not.toThrow();
  });
});

describe('manager.schedule', () => {
  it('has its name until its last run has ended, and gives it back once', async () => {
    const untilAborted = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const clock = new FakeClock();
    const cache = { run: untilAborted, waitForSync: async () => undefined };
    const cluster = { cache, name: 'cluster', group: 'caches', run: untilAborted, waitForReady: async () => undefined };
    const manager = createManager({ cluster: { ...cluster, client: {}, apiReader: {} } as never, clock });
    const ended = Promise.withResolvers<undefined>();
    const first = manager.schedule({ name: 'sweep', every: '1m', runAtStart: true, run: () => ended.promise });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await settle();
    const removed = first.remove();
    await settle();
    const add = () => manager.schedule({ name: 'sweep', every: '1m', run: () => undefined });
    expect(add).toThrow('there is a schedule of the name "sweep" already');
    ended.resolve(undefined);
    await removed;
    add();
    await first.remove();
    expect(add).toThrow('there is a schedule of the name "sweep" already');
    stop.abort();
    await running;
    expect(() => manager.schedule({ name: 'late', every: '1m', run: () => undefined })).toThrow(
      'stop procedure is already engaged',
    );
  });

  it('runs while this process leads, under a name of its own, until it is removed', async () => {
    const clock = new FakeClock();
    const untilAborted = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const cache = { run: untilAborted, waitForSync: async () => undefined } as never;
    let lead: ((signal: AbortSignal) => Promise<void>) | undefined;
    const manager = createManager({
      cluster: {
        name: 'cluster',
        group: 'caches',
        client: {},
        cache,
        apiReader: {},
        run: untilAborted,
        waitForReady: async () => undefined,
      } as never,
      clock,
      leaderElection: {
        onLost: 'rejoin',
        newElector: (request) => {
          lead = request.lead;
          return { run: untilAborted };
        },
      },
    });
    const runs: number[] = [];
    const handle = manager.schedule({ name: 'sweep', every: '1m', run: ({ dueAt }) => void runs.push(dueAt) });
    expect(handle.name).toBe('schedule sweep');
    expect(() => manager.schedule({ name: 'sweep', every: '1m', run: () => undefined })).toThrow(
      'there is a schedule of the name "sweep" already',
    );
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await clock.advance(5 * minute);
    expect(runs).toEqual([]);
    const term = new AbortController();
    const led = lead?.(term.signal);
    await clock.advance(2 * minute);
    expect(runs).toHaveLength(2);
    term.abort(new Error('lost'));
    await led;
    await clock.advance(5 * minute);
    expect(runs).toHaveLength(2);
    const again = new AbortController();
    void lead?.(again.signal);
    await clock.advance(1);
    // Of five that were missed meanwhile, one.
    expect(runs).toHaveLength(3);
    await handle.remove();
    await clock.advance(5 * minute);
    expect(runs).toHaveLength(3);
    expect(() => manager.schedule({ name: 'sweep', every: '1m', run: () => undefined })).not.toThrow();
    stop.abort();
    again.abort();
    await running;
  });
});
