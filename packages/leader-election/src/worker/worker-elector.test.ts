import { noopLogger, noopMetrics, type LogFields, type Logger, type Metrics } from '@kctl/telemetry';
import { describe, expect, it, vi } from 'vitest';
import type { LeaderCallbacks } from '../options.js';
import { isLeadershipLost } from '../errors.js';
import { createWorkerLeaderElector } from './worker-elector.js';
import type { WorkerLeaderElectorOptions } from './worker-options.js';

/**
 * A thread that does what `script` says, in place of the one that competes for a lock: it starts in a few ms, and can
 * be late, wrong or dead on purpose.
 */
function threadThat(script: string): { readonly source: string } {
  return {
    source: `
const { parentPort: port, workerData: input } = require('node:worker_threads');
const cells = new BigInt64Array(input.memory);
const now = () => Number(process.hrtime.bigint() / 1_000n) / 1_000;
const set = (slot, ms) => Atomics.store(cells, slot, BigInt(Math.round(ms * 1_000)));
const tell = (type, fields) => port.postMessage({ type, ...fields });
const done = (fields = {}) => { tell('done', { lost: undefined, failure: undefined, ...fields }); port.close(); };
let term = 0;
const win = (openMs = 60_000, leaseMs = 60_000) => {
  term++;
  set(2, term); set(1, now() + leaseMs); set(0, now() + openMs);
  tell('started', { term });
};
const close = (reason = { name: 'Error', message: 'given up' }) => { set(0, 0); tell('closed', { term, reason }); };
const heard = [];
const on = {};
port.on('message', (message) => { heard.push(message); on[message.type]?.(message); });
on.stop = () => { if (term === 0) { tell('ended', { led: false }); done(); } else close(); };
on['work-ended'] = () => { tell('ended', { led: true }); done(); };
${script}`,
  };
}

interface Seen {
  readonly elector: ReturnType<typeof createWorkerLeaderElector>;
  readonly stop: AbortController;
  readonly log: string[];
  /** Starts a run; resolves with 'resolved', or what it rejects with. */
  readonly run: () => Promise<unknown>;
  readonly terms: Parameters<LeaderCallbacks['onStartedLeading']>[];
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function electBy(
  script: string,
  options: Partial<WorkerLeaderElectorOptions> & { work?: (signal: AbortSignal) => Promise<void> | void } = {},
): Seen {
  const { work = untilAborted, ...rest } = options;
  const log: string[] = [];
  const terms: Seen['terms'] = [];
  const elector = createWorkerLeaderElector({
    name: 'test',
    threadModule: threadThat(script),
    callbacks: {
      onStartedLeading: (...given) => {
        terms.push(given);
        log.push('started');
        return work(given[0]);
      },
      onStoppedLeading: ({ led }) => log.push(led ? 'stopped' : 'never led'),
      onNewLeader: (identity) => log.push(`leader ${identity}`),
    },
    ...rest,
  });
  const stop = new AbortController();
  const run = (): Promise<unknown> =>
    elector.run(stop.signal).then(
      () => 'resolved',
      (error: unknown) => error,
    );
  return { elector, stop, log, run, terms };
}

const until = (condition: () => boolean): Promise<true> => vi.waitUntil(condition, { interval: 1, timeout: 300_000 });

describe('a term that the thread wins', () => {
  it('opens the fence and begins the work; a stop closes it, ends the work and then the run', async () => {
    const t = electBy("tell('leader', { identity: 'w' }); win(30_000, 40_000);", { leaseDurationMs: 41_000 });
    expect([t.elector.isLeader, t.elector.fence.isOpen, t.elector.fence.signal]).toEqual([false, false, undefined]);
    expect([t.elector.leader, t.elector.renewedMsAgo]).toEqual(['', undefined]);
    const ended = t.run();
    await until(() => t.elector.isLeader);
    const [[signal, fence]] = t.terms as [[AbortSignal, Seen['elector']['fence']]];
    expect(t.elector.fence.signal).toBe(signal);
    expect([signal.aborted, fence.isOpen, fence.signal, t.elector.leader]).toEqual([false, true, signal, 'w']);
    const { renewedMsAgo = 0 } = t.elector;
    expect(renewedMsAgo).toBeGreaterThanOrEqual(1_000);
    expect(renewedMsAgo).toBeLessThan(30_000);
    expect(() => t.elector.checkHealth()).not.toThrow();
    t.stop.abort();
    expect(await ended).toBe('resolved');
    expect([signal.aborted, fence.isOpen, t.elector.isLeader, t.elector.renewedMsAgo]).toEqual([
      true,
      false,
      false,
      undefined,
    ]);
    expect(t.log).toEqual(['leader w', 'started', 'stopped']);
    await t.elector.stepDown(); // at once: there is no term
  });

  it('aborts the work with the reason that the thread has, and only the work of that term', async () => {
    const t = electBy(`
      win();
      tell('closed', { term: 7, reason: { name: 'Error', message: 'of another term' } });
      on.stop = () => close({ name: 'LeaseNotRenewedError', message: 'late', code: 'KCTL_LEASE_NOT_RENEWED' });
      tell('leader', { identity: 'sent after it' });`);
    const ended = t.run();
    await until(() => t.elector.leader !== '');
    expect(t.terms[0]?.[0].aborted).toBe(false);
    t.stop.abort();
    await ended;
    expect(t.terms[0]?.[0].reason).toMatchObject({ message: 'late', code: 'KCTL_LEASE_NOT_RENEWED' });
  });

  it('begins no work if its fence has closed by the time at which this thread hears of it', async () => {
    const t = electBy(`
      win(-1);
      on['work-ended'] = ({ term, failed }) => {
        tell('leader', { identity: JSON.stringify({ term, failed }) });
        tell('ended', { led: true }); done();
      };`);
    expect(await t.run()).toBe('resolved');
    expect(t.log).toEqual([`leader ${JSON.stringify({ term: 1, failed: false })}`, 'stopped']);
    expect(t.elector.isLeader).toBe(false);
  });

  it('begins no work if another term has followed by then', async () => {
    const t = electBy("term = 1; win(); tell('started', { term: 1 }); tell('leader', { identity: 'x' });");
    const ended = t.run();
    await until(() => t.elector.leader !== '');
    expect(t.terms).toHaveLength(1);
    t.stop.abort();
    expect(await ended).toBe('resolved');
  });

  it('is not the next one: the fence of a term stays closed when the thread leads again', async () => {
    const t = electBy(
      "win(); on['work-ended'] = () => { tell('ended', { led: true }); if (term === 1) win(); else done(); }; on['step-down'] = () => close();",
    );
    const ended = t.run();
    await until(() => t.elector.isLeader);
    await t.elector.stepDown();
    await until(() => t.elector.isLeader);
    expect(t.terms.map(([, fence]) => fence.isOpen)).toEqual([false, true]);
    expect(() => t.terms[0]?.[1].check()).toThrow('this process does not hold test');
    t.stop.abort();
    expect(await ended).toBe('resolved');
  });

  it('is over at the time that the thread has set, before any message', async () => {
    const t = electBy("win(); on['step-down'] = () => set(0, now()); on.stop = () => done();");
    const ended = t.run();
    await until(() => t.elector.isLeader);
    const stepped = t.elector.stepDown();
    await until(() => !t.elector.isLeader);
    const [signal, fence] = t.terms[0] ?? [];
    expect([signal?.aborted, fence?.isOpen, t.elector.fence.isOpen]).toEqual([false, false, false]);
    t.stop.abort();
    expect(await ended).toBe('resolved');
    await stepped;
  });
});

describe('the work', () => {
  it.each([true, false])(
    'rejects the run with its very error, after the thread has ended; it fails: %s',
    async (fails) => {
      const boom = new Error('boom');
      const t = electBy(
        "win(); on['work-ended'] = ({ failed }) => { tell('leader', { identity: String(failed) }); tell('ended', { led: true }); done(); };",
        { work: () => (fails ? Promise.reject(boom) : Promise.resolve()) },
      );
      expect(await t.run()).toBe(fails ? boom : 'resolved');
      expect(t.log).toEqual(['started', `leader ${fails}`, 'stopped']);
    },
  );

  it('reports a failure after its abort as a line of the log', async () => {
    const lines: string[] = [];
    const logger: Logger = { ...noopLogger, warn: (message) => void lines.push(message) };
    const t = electBy('win();', {
      logger,
      work: async (signal) => {
        await untilAborted(signal);
        throw new Error('too late');
      },
    });
    const ended = t.run();
    await until(() => t.elector.isLeader);
    t.stop.abort();
    expect(await ended).toBe('resolved');
    expect(lines).toEqual(['the work failed while it was being stopped']);
  });

  it('that goes on after its lease has expired is unhealthy, and holds the next run up', async () => {
    const end = Promise.withResolvers<undefined>();
    const t = electBy("win(60_000, -1_000); on.stop = () => { set(0, 0); tell('ended', { led: true }); done(); };", {
      work: () => end.promise,
    });
    const ended = t.run();
    await until(() => t.elector.isLeader);
    expect(() => t.elector.checkHealth()).toThrow(
      /failed election to renew leadership on test: the lease expired \d+ ms ago/,
    );
    expect(() => t.elector.checkHealth(60_000)).not.toThrow();
    t.stop.abort();
    expect(await ended).toBe('resolved');
    expect(() => t.elector.checkHealth()).toThrow('failed election');
    const stop = new AbortController();
    const waiting = t.elector.run(stop.signal);
    stop.abort();
    await waiting;
    expect(t.log).toEqual(['started', 'stopped', 'never led']);
    const next = t.elector.run(new AbortController().signal);
    end.resolve(undefined);
    await until(() => t.log.filter((line) => line === 'started').length === 2);
    t.elector.abandon();
    await next;
    expect(() => t.elector.checkHealth()).not.toThrow();
  });
});

describe('the end of a run', () => {
  it.each([
    ['is stopped before it begins', '', 'resolved', ['never led']],
    [
      'has lost',
      "done({ lost: { name: 'Error', message: 'held by b' } });",
      { code: 'KCTL_LEADERSHIP_LOST', cause: { message: 'held by b' } },
      [],
    ],
    [
      'has failed',
      "done({ failure: { name: 'TypeError', message: 'no lock', code: 'E_NO_LOCK' } });",
      { name: 'TypeError', message: 'no lock', code: 'E_NO_LOCK' },
      [],
    ],
    ['exits', 'process.exit(3);', { message: 'the thread of the election ended with code 3' }, []],
    ['throws', "throw new Error('a bug');", { message: 'a bug' }, []],
  ])('of a thread that %s', async (how, script, outcome, log) => {
    const t = electBy(script);
    if (how.startsWith('is stopped')) t.stop.abort();
    const ended = await t.run();
    if (typeof outcome === 'string') expect(ended).toBe(outcome);
    else expect(ended).toMatchObject(outcome);
    expect(isLeadershipLost(ended)).toBe(how === 'has lost');
    expect(t.log).toEqual(log);
    // The next run is a new one.
    await expect(t.elector.run(AbortSignal.abort()))
      .rejects.not.toThrow('already running')
      .catch(() => undefined);
  });

  it('is awaited by the next one', async () => {
    const t = electBy('win();');
    const ended = t.run();
    expect(await t.run()).toMatchObject({ message: 'LeaderElector.run: already running' });
    t.stop.abort();
    expect(await ended).toBe('resolved');
  });

  it('leaves no listener at the signal of a run', async () => {
    const t = electBy('done();');
    const added = vi.spyOn(t.stop.signal, 'addEventListener');
    const removed = vi.spyOn(t.stop.signal, 'removeEventListener');
    expect(await t.run()).toBe('resolved');
    expect(added.mock.calls.length).toBeGreaterThan(0);
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
  });

  it('comes when the lease expires, if its thread has died and the work goes on', async () => {
    const t = electBy("win(60_000, 200); on['step-down'] = () => process.exit(1);", {
      work: () => new Promise(() => undefined),
    });
    const ended = t.run();
    await until(() => t.elector.isLeader);
    const stepped = t.elector.stepDown();
    expect(await ended).toMatchObject({ message: 'the thread of the election ended with code 1' });
    await stepped;
    expect([t.elector.isLeader, t.log]).toEqual([false, ['started', 'stopped']]);
    expect(() => t.elector.checkHealth()).toThrow('failed election');
  });

  it('comes if it is abandoned while its thread is being found', async () => {
    const t = electBy('', {
      threadModule: async () => {
        t.elector.abandon();
        return threadThat('');
      },
    });
    expect(await t.run()).toBe('resolved');
    expect(t.log).toEqual([]);
  });

  it('comes when it is abandoned, and resolves whoever waits for a step down', async () => {
    const t = electBy('win(); on["step-down"] = () => undefined;', { work: () => new Promise(() => undefined) });
    const ended = t.run();
    await until(() => t.elector.isLeader);
    const stepped = t.elector.stepDown();
    t.elector.abandon();
    expect(await ended).toBe('resolved');
    await stepped;
    expect([t.elector.isLeader, t.terms[0]?.[0].aborted]).toEqual([false, true]);
    expect(t.log).toEqual(['started', 'stopped']);
  });
});

describe('what a run needs', () => {
  it.each([undefined, null, {}])('is a signal, not %o', async (signal) => {
    await expect(electBy('').elector.run(signal as never)).rejects.toThrow('LeaderElector.run needs an AbortSignal');
  });

  it('is no callback but the work', async () => {
    const errors: string[] = [];
    const logger: Logger = { ...noopLogger, error: (message) => void errors.push(message) };
    const t = electBy("tell('leader', { identity: 'w' }); win();", {
      logger,
      callbacks: { onStartedLeading: () => undefined },
    });
    expect([await t.run(), t.elector.leader, errors]).toEqual(['resolved', 'w', []]);
  });
});

describe('what the thread is told', () => {
  it.each([Number.NaN, -1, '5'])('is nothing for a step down with a holdOffMs of %s', async (holdOffMs) => {
    const t = electBy("win(); on['step-down'] = () => close();");
    const ended = t.run();
    await until(() => t.elector.isLeader);
    await expect(t.elector.stepDown({ holdOffMs: holdOffMs as never })).rejects.toThrow('stepDown: holdOffMs');
    expect(t.elector.isLeader).toBe(true);
    t.stop.abort();
    expect(await ended).toBe('resolved');
  });

  it.each([
    [{}, 15_000],
    [{ holdOffMs: 5 }, 5],
  ])('a step down with %o holds off for %i ms', async (options, holdOffMs) => {
    const t = electBy(
      "win(); on['step-down'] = ({ holdOffMs }) => { tell('leader', { identity: String(holdOffMs) }); close(); };",
    );
    const ended = t.run();
    await until(() => t.elector.isLeader);
    await t.elector.stepDown(options);
    expect(t.log).toEqual(['started', `leader ${holdOffMs}`, 'stopped']);
    expect(await ended).toBe('resolved');
  });

  it('that this thread is alive, from the start and again and again', async () => {
    const t = electBy(
      `
      const first = Atomics.load(cells, 3);
      const isFresh = first > 0n && now() - Number(first) / 1_000 < 60_000;
      let beats = 0, last = first;
      const look = setInterval(() => {
        const beat = Atomics.load(cells, 3);
        if (beat === last) return;
        last = beat;
        if (++beats < 3) return;
        clearInterval(look);
        tell('leader', { identity: String(isFresh) });
        done();
      }, 1);`,
      { mainStallLimitMs: 50 },
    );
    expect(await t.run()).toBe('resolved');
    expect(t.log).toEqual(['leader true']);
  });
});

describe('what the thread tells', () => {
  it('reaches the logger and the metrics of this thread', async () => {
    const lines: [string, string, LogFields | undefined][] = [];
    const values: string[] = [];
    const logger: Logger = { ...noopLogger, warn: (message, fields) => void lines.push(['warn', message, fields]) };
    const metrics = {
      ...noopMetrics,
      counter: ({ name }: { name: string }) => ({ with: () => ({ inc: () => void values.push(name) }) }),
      gauge: () => ({ with: () => ({ set: (value: number) => void values.push(`status ${value}`) }) }),
    } as unknown as Metrics;
    const t = electBy(
      `
      tell('count', { metric: 'failures' }); tell('count', { metric: 'slowPath' });
      tell('log', { level: 'warn', message: 'slow', fields: { ms: 5 } });
      win();`,
      { logger, metrics },
    );
    expect(values).toEqual(['status 0']);
    const ended = t.run();
    await until(() => t.elector.isLeader);
    t.stop.abort();
    await ended;
    expect(lines).toEqual([['warn', 'slow', { ms: 5 }]]);
    expect(values.slice(0, 4)).toEqual([
      'status 0',
      'leader_election_request_failures_total',
      'leader_election_slowpath_total',
      'status 1',
    ]);
    expect(values.at(-1)).toBe('status 0');
  });
});
