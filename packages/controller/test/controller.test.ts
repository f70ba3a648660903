import { StatusError } from '@kctl/apimachinery';
import { abortReason } from '@kctl/wait/internal';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileContext, Source } from '../src/index.js';
import {
  createController,
  createRetryPolicy,
  enqueueRequestForObject,
  isReconcileTimeoutError,
  isSourceError,
  kindSource,
  lowPriority,
  terminalError,
} from '../src/index.js';
import { FakeInformers, Node, Pod, pod } from './fakes.js';
import { createHarness } from './harness.js';

const never = (): Promise<never> => new Promise(() => undefined);

describe('Controller start', () => {
  it('reconciles nothing before every initial event was handled', async () => {
    const t = createHarness();
    const done = t.run();
    await settle();
    t.pods.add(pod('a'), true);
    await settle();
    expect(t.runs).toEqual([]);
    t.pods.add(pod('b'), true);
    t.pods.sync();
    await settle();
    expect(t.runs.map(({ name, priority }) => [name, priority])).toEqual([
      ['a', lowPriority],
      ['b', lowPriority],
    ]);
    t.stop.abort();
    await done;
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('waits for every source, and starts them all at once', async () => {
    const t = createHarness();
    const nodes = t.informers.of(Node);
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: enqueueRequestForObject() }));
    await t.start();
    expect(nodes.handlers.size).toBe(1);
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs).toEqual([]);
    nodes.sync();
    await settle();
    expect(t.runs.length).toBe(1);
    t.stop.abort();
  });

  it('fails when a source does not sync in time, with the reason that the informer has', async () => {
    const t = createHarness();
    const done = t.run();
    t.pods.lastError = new Error('pods is forbidden');
    await t.clock.advance(119_999);
    expect(t.controller.phase).toBe('cold');
    await t.clock.advance(1);
    const error: unknown = await done.catch((failure: unknown) => failure);
    expect(isSourceError(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'failed to wait for test caches to sync kind source: Pod: pods is forbidden',
      source: 'kind source: Pod',
    });
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('fails when the start of a source blocks', async () => {
    const t = createHarness(undefined, { cacheSyncTimeoutMs: 1000 });
    const blocking: Source<unknown> = { name: 'mine', start: never };
    t.controller.watch(blocking);
    const { done } = await t.start();
    await t.clock.advance(1000);
    await expect(done).rejects.toThrow(
      'timed out waiting for source mine to Start. Please ensure that its Start() method is non-blocking',
    );
  });

  it('fails when a source fails to start', async () => {
    const t = createHarness();
    t.controller.watch({ name: 'mine', start: () => Promise.reject(new Error('no route')) });
    const { done } = await t.start();
    await expect(done).rejects.toThrow('failed to start source mine: no route');
  });

  it('ends without error when it is stopped while it syncs', async () => {
    const t = createHarness();
    const done = t.run();
    await settle();
    t.stop.abort();
    await done;
    expect(t.pods.handlers.size).toBe(0);
  });

  it('asks for the informer of a missing kind at once and then every 10 s', async () => {
    const t = createHarness();
    t.informers.failures = [new Error('no matches for kind'), new Error('no matches for kind')];
    await t.start();
    t.pods.add(pod('lost'));
    expect(t.informers.calls).toBe(1);
    await t.clock.advance(9_999);
    expect(t.informers.calls).toBe(1);
    await t.clock.advance(10_001);
    expect(t.informers.calls).toBe(3);
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs.map(({ name }) => name)).toEqual(['a']);
    t.stop.abort();
  });

  it('cannot run twice at once, but again after it has ended', async () => {
    const t = createHarness();
    const { done } = await t.start();
    await expect(t.controller.run(t.stop.signal)).rejects.toThrow('was started more than once');
    t.stop.abort();
    await done;
    expect(t.controller.phase).toBe('cold');
    const again = new AbortController();
    const second = t.controller.run(again.signal);
    await settle();
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs.length).toBe(1);
    again.abort();
    await second;
    expect(t.pods.handlers.size).toBe(0);
  });

  it('exports every series as 0 from the start', async () => {
    const t = createHarness(undefined, { maxConcurrentReconciles: 3 });
    await t.start();
    expect([t.total('success'), t.total('error'), t.total('requeue'), t.total('requeue_after')]).toEqual([0, 0, 0, 0]);
    for (const name of ['reconcile_errors', 'terminal_reconcile_errors', 'reconcile_panics', 'reconcile_timeouts'])
      expect(t.count(`controller_runtime_${name}_total`)).toBe(0);
    expect(t.count('controller_runtime_active_workers')).toBe(0);
    expect(t.count('controller_runtime_max_concurrent_reconciles')).toBe(3);
    t.stop.abort();
  });
});

describe('Controller warm-up', () => {
  it('starts the sources without reconciling; run goes on from there', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    t.pods.sync();
    const warm = new AbortController();
    await t.controller.warmup?.(warm.signal);
    expect(t.controller.phase).toBe('warm');
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs).toEqual([]);
    await t.start();
    expect(t.runs.map(({ name }) => name)).toEqual(['a']);
    expect(t.informers.calls).toBe(1);
    warm.abort();
    t.pods.add(pod('b'));
    await settle();
    expect(t.runs.length).toBe(2);
    t.stop.abort();
  });

  it('is there only when it is enabled', () => {
    expect(createHarness().controller.warmup).toBeUndefined();
  });

  it('tells run of a failure that it had', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    t.controller.watch({ name: 'mine', start: () => Promise.reject(new Error('no route')) });
    await expect(t.controller.warmup?.(t.stop.signal)).rejects.toThrow('no route');
    await expect(t.run()).rejects.toThrow('no route');
  });

  it('ends the sources when it is stopped before run', async () => {
    const t = createHarness(undefined, { enableWarmup: true });
    t.pods.sync();
    const warm = new AbortController();
    await t.controller.warmup?.(warm.signal);
    warm.abort();
    await settle();
    expect(t.pods.handlers.size).toBe(0);
  });
});

describe('Controller result', () => {
  it('retries a failure with back-off, keeping its priority, and forgets it on success', async () => {
    let failures = 2;
    const t = createHarness(async () => {
      if (failures-- > 0) throw new Error('not today');
    });
    await t.start();
    t.pods.add(pod('a'), true);
    await t.clock.advance(4);
    expect(t.runs.length).toBe(1);
    await t.clock.advance(11);
    expect(t.runs.map(({ attempt, priority, at }) => [attempt, priority, at])).toEqual([
      [1, lowPriority, 0],
      [2, lowPriority, 5],
      [3, lowPriority, 15],
    ]);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await settle();
    expect(t.runs.at(-1)).toMatchObject({ attempt: 1, priority: 0 });
    expect([t.total('error'), t.total('success')]).toEqual([2, 2]);
    expect(t.count('controller_runtime_reconcile_errors_total')).toBe(2);
    t.stop.abort();
  });

  it('backs off up to 1000 s', async () => {
    const t = createHarness(() => Promise.reject(new Error('never')));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(5 * 2 ** 18);
    const delays = t.runs.slice(1).map(({ at }, index) => at - (t.runs[index]?.at ?? 0));
    expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40]);
    await t.clock.advance(3_000_000);
    const last = t.runs.at(-1)?.at ?? 0;
    expect(last - (t.runs.at(-2)?.at ?? 0)).toBe(1_000_000);
    t.stop.abort();
  });

  it.each([
    ['a cause', new Error('outer', { cause: terminalError(new Error('bad spec')) })],
    ['a member of an AggregateError', new AggregateError([new Error('a'), terminalError('bad spec')])],
    ['the cause of one', new AggregateError([new Error('a')], 'both', { cause: terminalError('bad spec') })],
  ])('does not retry a terminal error, also where it is %s', async (_where, error) => {
    const t = createHarness(() => Promise.reject(error));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(10_000_000);
    expect(t.runs.length).toBe(1);
    expect([
      t.count('controller_runtime_terminal_reconcile_errors_total'),
      t.count('controller_runtime_reconcile_errors_total'),
      t.total('error'),
    ]).toEqual([1, 1, 1]);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await settle();
    expect(t.runs.at(-1)?.attempt).toBe(1);
    t.stop.abort();
  });

  it('has the messages of upstream for terminal errors', () => {
    expect(terminalError(new Error('x')).message).toBe('terminal error: x');
    expect(terminalError(undefined).message).toBe('nil terminal error');
  });

  it('replaces a planned requeue by an event: one slot per key', async () => {
    const t = createHarness(async () => ({ requeueAfterMs: 1000 }));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(500);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await t.clock.advance(600);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 500]);
    await t.clock.advance(400);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 500, 1500]);
    expect(t.total('requeue_after')).toBe(3);
    t.stop.abort();
  });

  it('requeues beyond 24.8 days', async () => {
    const days = 40 * 86_400_000;
    const t = createHarness(async () => ({ requeueAfterMs: days }));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(days - 1);
    expect(t.runs.length).toBe(1);
    await t.clock.advance(1);
    expect(t.runs.length).toBe(2);
    t.stop.abort();
  });

  it('backs off without error, and a requeueAfter wins over it and forgets the back-off', async () => {
    const results = [
      { backoff: true },
      { backoff: true },
      { backoff: true, requeueAfterMs: 100 },
      { backoff: true },
      {},
    ];
    const t = createHarness(async () => results.shift());
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(1000);
    expect(t.runs.map(({ at, attempt }) => [at, attempt])).toEqual([
      [0, 1],
      [5, 2],
      [15, 3],
      [115, 1],
      [120, 2],
    ]);
    expect([t.total('requeue'), t.total('requeue_after'), t.total('success'), t.total('error')]).toEqual([3, 1, 1, 0]);
    expect(t.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
    t.stop.abort();
  });

  it.each([0, -1, -1e12, Number.MIN_SAFE_INTEGER])(
    'takes a requeueAfterMs of %d for now, through the rate limiter',
    async (requeueAfterMs) => {
      const results = [{ requeueAfterMs }, { requeueAfterMs, keep: true }, { requeueAfterMs, priority: 3 }];
      const t = createHarness(async () => results.shift());
      await t.start();
      t.pods.add(pod('a'));
      await t.clock.advance(1000);
      expect(t.runs.map(({ at, attempt, priority }) => [at, attempt, priority])).toEqual([
        [0, 1, 0],
        [5, 2, 0],
        [15, 3, 0],
        [35, 4, 3],
      ]);
      expect([t.total('requeue'), t.total('requeue_after'), t.total('success'), t.total('error')]).toEqual([
        3, 0, 1, 0,
      ]);
      t.stop.abort();
    },
  );

  it('takes the priority of the result, else keeps that of the item', async () => {
    const results = [{ requeueAfterMs: 1 }, { requeueAfterMs: 1, priority: 7 }, {}];
    const t = createHarness(async () => results.shift());
    await t.start();
    t.pods.add(pod('a'), true);
    await t.clock.advance(10);
    expect(t.runs.map(({ priority }) => priority)).toEqual([lowPriority, lowPriority, 7]);
    t.stop.abort();
  });

  it.each([
    [{ requeueAfterMs: Number.NaN }, 'requeueAfterMs NaN is not valid: it must be a finite number of ms'],
    [{ requeueAfterMs: Infinity }, 'requeueAfterMs Infinity is not valid: it must be a finite number of ms'],
    [{ requeueAfterMs: -Infinity }, 'requeueAfterMs -Infinity is not valid: it must be a finite number of ms'],
    [{ requeueAfterMs: '5' }, 'requeueAfterMs "5" is not valid: it must be a finite number of ms'],
    [{ priority: Infinity }, 'priority Infinity is not valid: it must be a finite number'],
    [{ backoff: 'yes' }, 'backoff "yes" is not valid: it must be a boolean'],
    [{ keep: 'yes' }, 'keep "yes" is not valid: it must be a boolean'],
    [{ requeueAfter: 5 }, 'the result has an unknown field "requeueAfter"'],
    [7, 'the result 7 is not valid'],
  ])('takes the invalid result %j for a failure that says what is expected', async (result, problem) => {
    const t = createHarness(async () => result);
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(t.total('error')).toBe(1);
    const [failure] = t.logger.lines.filter(({ level }) => level === 'error');
    expect(failure?.fields['error']).toMatchObject({
      message: `reconcile: ${problem}; expected nothing or { requeueAfterMs, keep, backoff, priority }`,
    });
    t.stop.abort();
  });

  it('takes a result without a wish, or with one that is undefined, for a success', async () => {
    const t = createHarness(async () => ({ requeueAfterMs: undefined }));
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect([t.total('success'), t.total('error')]).toEqual([1, 0]);
    t.stop.abort();
  });
});

describe('Controller failure', () => {
  it('turns a throw into a failed reconcile and counts the panic', async () => {
    const t = createHarness(() => {
      throw new TypeError("cannot read properties of undefined (reading 'spec')");
    });
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(t.count('controller_runtime_reconcile_panics_total')).toBe(1);
    expect(t.total('error')).toBe(1);
    const line = t.logger.lines.find(({ message }) => message === 'Reconciler error');
    expect(line?.fields['error']).toMatchObject({
      message: "panic: cannot read properties of undefined (reading 'spec') [recovered]",
    });
    await t.clock.advance(5);
    expect(t.runs.length).toBe(2);
    t.stop.abort();
  });

  it('does not call a network failure of fetch a panic', async () => {
    const t = createHarness(() => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })));
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(t.count('controller_runtime_reconcile_panics_total')).toBe(0);
    t.stop.abort();
  });

  it('fails with the panic when it is not to recover', async () => {
    const t = createHarness(() => Promise.reject(new ReferenceError('x is not defined')), { recoverPanic: false });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await expect(done).rejects.toThrow('x is not defined');
    expect(t.count('controller_runtime_reconcile_panics_total')).toBe(1);
  });

  it('aborts a reconcile after its timeout and counts only its own deadline', async () => {
    let reason: unknown;
    const t = createHarness(
      (_request, { signal, attempt }) =>
        new Promise((_resolve, reject) => {
          if (attempt === 2) reject(new DOMException('a shorter deadline of mine', 'AbortError'));
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(abortReason(signal));
          });
        }),
      { reconciliationTimeoutMs: 1000 },
    );
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(999);
    expect(t.total('error')).toBe(0);
    await t.clock.advance(1);
    expect(isReconcileTimeoutError(reason)).toBe(true);
    expect(t.count('controller_runtime_reconcile_timeouts_total')).toBe(1);
    await t.clock.advance(5);
    expect(t.total('error')).toBe(2);
    expect(t.count('controller_runtime_reconcile_timeouts_total')).toBe(1);
    t.stop.abort();
  });

  it('sets no timer without a timeout', async () => {
    const t = createHarness(never);
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
    expect(t.controller.inFlight).toEqual(['default/a']);
  });

  it('gives up after the attempts of the policy, and says which is the last', async () => {
    const last: boolean[] = [];
    const t = createHarness(
      (_request, { isLastAttempt }) => {
        last.push(isLastAttempt);
        return Promise.reject(new Error('never'));
      },
      { retryPolicy: createRetryPolicy({ maxAttempts: 3, delayMs: (attempt) => attempt * 100 }) },
    );
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(10_000_000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 100, 300]);
    expect(last).toEqual([false, false, true]);
    t.stop.abort();
  });

  it.each([
    [7, 7_000],
    [301, 300_000],
    [1e9, 300_000],
  ])('honours a Retry-After of %d s, and believes no more than five minutes', async (retryAfterSeconds, again) => {
    const throttled = new StatusError({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds } });
    const t = createHarness(() => Promise.reject(new Error('update failed', { cause: throttled })));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(again);
    expect(t.runs.map(({ at }) => at)).toEqual([0, again]);
    t.stop.abort();
  });

  it('logs a conflict as an error only when it goes on', async () => {
    const t = createHarness(() => Promise.reject(new StatusError({ code: 409, reason: 'Conflict' })));
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(5 * 31);
    expect(t.runs.length).toBe(6);
    const levels = t.logger.lines.filter(({ fields }) => 'attempt' in fields).map(({ level }) => level);
    expect(levels).toEqual(['info', 'info', 'info', 'info', 'info', 'error']);
    t.stop.abort();
  });

  it('logs a conflict that is given up as an error', async () => {
    const cause = new StatusError({ code: 409, reason: 'Conflict' });
    const t = createHarness(() => Promise.reject(terminalError(cause)));
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(t.logger.lines.filter(({ fields }) => 'attempt' in fields).map(({ level }) => level)).toEqual(['error']);
    t.stop.abort();
  });

  it('lets the error hook override what follows, and survives its failure', async () => {
    const seen: unknown[] = [];
    const t = createHarness(() => Promise.reject(new Error('broken')), {
      onError: async ({ request, decision }, { attempt }) => {
        seen.push([request.name, decision.type, attempt]);
        if (attempt === 1) return { type: 'retry', afterMs: 42 };
        if (attempt === 2) throw new Error('status write failed');
        return { type: 'stop' };
      },
    });
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(1_000_000);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 42, 47]);
    expect(seen).toEqual([
      ['a', 'backoff', 1],
      ['a', 'backoff', 2],
      ['a', 'backoff', 3],
    ]);
    t.stop.abort();
  });

  it('lets events through a rest once per window when told so', async () => {
    const t = createHarness(() => Promise.reject(new Error('broken')), {
      retryPolicy: createRetryPolicy({ delayMs: () => 1000 }),
      eventsDuringBackoff: 'oncePerWindow',
    });
    await t.start();
    const change = (version: number) =>
      t.pods.update(pod('a', { resourceVersion: '1' }), pod('a', { resourceVersion: `${version}` }));
    t.pods.add(pod('a'));
    await t.clock.advance(100);
    change(2);
    await t.clock.advance(100);
    change(3);
    change(4);
    await t.clock.advance(799);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 100]);
    await t.clock.advance(1);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 100, 1000]);
    change(5);
    await settle();
    expect(t.runs.map(({ at }) => at)).toEqual([0, 100, 1000, 1000]);
    t.stop.abort();
  });

  it('lets every event through a rest otherwise', async () => {
    const t = createHarness(() => Promise.reject(new Error('broken')), {
      retryPolicy: createRetryPolicy({ delayMs: () => 1000 }),
    });
    await t.start();
    for (let version = 1; version < 4; version++) {
      t.pods.update(pod('a', { resourceVersion: '0' }), pod('a', { resourceVersion: `${version}` }));
      await t.clock.advance(100);
    }
    expect(t.runs.map(({ at }) => at)).toEqual([0, 100, 200]);
    t.stop.abort();
  });

  it('counts nothing for a reconcile that the stop has cut short', async () => {
    const t = createHarness(
      (_request, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await settle();
    t.stop.abort();
    await done;
    expect([t.total('error'), t.count('controller_runtime_reconcile_errors_total')]).toEqual([0, 0]);
    expect(t.logger.lines.some(({ level }) => level === 'error')).toBe(false);
  });
});

describe('Controller concurrency', () => {
  it('never runs a key twice at once, and not more keys than workers', async () => {
    const active = new Map<string, number>();
    let most = 0;
    const gates: (() => void)[] = [];
    const t = createHarness(
      async ({ name }) => {
        active.set(name, (active.get(name) ?? 0) + 1);
        expect(active.get(name)).toBe(1);
        most = Math.max(
          most,
          [...active.values()].reduce((sum, value) => sum + value),
        );
        await new Promise<void>((resolve) => gates.push(resolve));
        active.set(name, 0);
      },
      { maxConcurrentReconciles: 2 },
    );
    await t.start();
    for (let round = 0; round < 3; round++) {
      for (const name of ['a', 'b', 'c', 'd']) t.pods.add(pod(name));
      await settle();
      expect(t.count('controller_runtime_active_workers')).toBe(2);
      gates.splice(0).forEach((open) => open());
      await settle();
    }
    expect(most).toBe(2);
    t.stop.abort();
  });

  it('can be changed while it runs; 0 pauses', async () => {
    const gates: (() => void)[] = [];
    const t = createHarness(() => new Promise<void>((resolve) => gates.push(resolve)));
    await t.start();
    for (const name of ['a', 'b', 'c', 'd']) t.pods.add(pod(name));
    await settle();
    expect(t.runs.length).toBe(1);
    t.controller.maxConcurrentReconciles = 3;
    await settle();
    expect(t.runs.length).toBe(3);
    t.controller.maxConcurrentReconciles = 0;
    gates.splice(0).forEach((open) => open());
    await settle();
    expect(t.runs.length).toBe(3);
    t.controller.maxConcurrentReconciles = 1;
    await settle();
    expect(t.runs.length).toBe(4);
    expect(() => (t.controller.maxConcurrentReconciles = -1)).toThrow('expected an integer ≥ 0');
    t.stop.abort();
    gates.splice(0).forEach((open) => open());
  });

  it('begins no reconcile while it is paused, also one that starts so, and then goes on with its limit', async () => {
    const gates: (() => void)[] = [];
    const t = createHarness(() => new Promise<void>((resolve) => gates.push(resolve)), { maxConcurrentReconciles: 2 });
    t.controller.setPaused(true);
    await t.start();
    for (const name of ['a', 'b', 'c', 'd']) t.pods.add(pod(name));
    await settle();
    expect(t.runs).toEqual([]);
    t.controller.setPaused(false);
    await settle();
    expect(t.runs).toHaveLength(2);
    t.controller.setPaused(true);
    gates.splice(0).forEach((open) => open());
    t.controller.maxConcurrentReconciles = 1; // changes the limit, not the pause
    await settle();
    expect([t.runs.length, t.controller.queueLength, t.controller.maxConcurrentReconciles]).toEqual([2, 2, 1]);
    t.controller.setPaused(false);
    await settle();
    expect(t.runs).toHaveLength(3);
    t.stop.abort();
    gates.splice(0).forEach((open) => open());
  });

  it('waits for reconciles that are running, and hands out nothing more', async () => {
    const gate = Promise.withResolvers<undefined>();
    const t = createHarness(() => gate.promise);
    const { done } = await t.start();
    t.pods.add(pod('a'));
    t.pods.add(pod('b'));
    await settle();
    t.stop.abort();
    await settle();
    expect(t.controller.phase).toBe('draining');
    gate.resolve(undefined);
    await done;
    expect(t.runs.map(({ name }) => name)).toEqual(['a']);
  });

  it('leaves the event loop to others while it works through a backlog', async () => {
    let runs = 0;
    const informers = new FakeInformers();
    const controller = createController({
      name: 'busy',
      reconciler: async () => {
        runs++;
      },
    });
    controller.watch(kindSource({ informers, kind: Pod, handler: enqueueRequestForObject() }));
    const stop = new AbortController();
    const done = controller.run(stop.signal);
    informers.of(Pod).sync();
    await settle();
    for (let index = 0; index < 50_000; index++) informers.of(Pod).add(pod(`p${index}`), true);
    let turns = 0;
    while (runs < 50_000) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    stop.abort();
    await done;
    // However fast the machine, 50,000 reconciles take longer than a few slices.
    expect(turns).toBeGreaterThan(5);
  });
});

describe('Controller context', () => {
  it('tells a running reconcile that a newer event has arrived, and runs the key again', async () => {
    const contexts: ReconcileContext[] = [];
    const gate = Promise.withResolvers<undefined>();
    const t = createHarness((_request, context) => {
      contexts.push(context);
      return contexts.length === 1 ? gate.promise : Promise.resolve();
    });
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    const [first] = contexts;
    const { superseded } = first!;
    expect([first?.isSuperseded, superseded.aborted]).toEqual([false, false]);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    expect([first?.isSuperseded, superseded.aborted]).toEqual([true, true]);
    gate.resolve(undefined);
    await settle();
    expect(contexts.length).toBe(2);
    expect(contexts[1]?.superseded.aborted).toBe(false);
    t.stop.abort();
  });

  it('says why, and who it is', async () => {
    const contexts: ReconcileContext[] = [];
    const t = createHarness(async (_request, context) => {
      contexts.push(context);
      context.logger.info('hello');
    });
    await t.start();
    t.pods.add(pod('a'));
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await settle();
    expect(contexts[0]?.reasons).toEqual(['kind source: Pod create default/a', 'kind source: Pod update default/a']);
    expect(contexts[0]?.reconcileId).toMatch(/^[0-9a-f-]{36}$/);
    expect(t.logger.lines.find(({ message }) => message === 'hello')?.fields).toEqual({
      controller: 'test',
      object: { namespace: 'default', name: 'a' },
      namespace: 'default',
      name: 'a',
      reconcileID: contexts[0]?.reconcileId,
    });
    t.stop.abort();
  });

  it('records a span for each run', async () => {
    const spans: unknown[] = [];
    const t = createHarness(() => Promise.reject(new Error('broken')), {
      tracer: {
        withSpan: async (name, attributes, work) =>
          work({
            setAttributes: (more) => spans.push(more),
            recordError: (error) => spans.push([name, attributes, error]),
            end: () => undefined,
          }),
      },
    });
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(spans).toEqual([
      { reasons: expect.stringContaining('create default/a'), attempt: 1 },
      ['reconcile', { controller: 'test', request: 'default/a' }, new Error('broken')],
    ]);
    t.stop.abort();
  });
});

describe('Controller.watch', () => {
  it('starts a source that is added while it runs, and ends one that is removed', async () => {
    const t = createHarness();
    await t.start();
    const nodes = t.informers.of(Node).sync();
    const watch = t.controller.watch(
      kindSource({ informers: t.informers, kind: Node, handler: enqueueRequestForObject() }),
    );
    await watch.waitForSync();
    expect(watch.hasSynced).toBe(true);
    nodes.add({ metadata: { name: 'n1' } });
    await settle();
    expect(t.runs.map(({ name }) => name)).toEqual(['n1']);
    await watch.remove();
    expect(nodes.handlers.size).toBe(0);
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs.map(({ name }) => name)).toEqual(['n1', 'a']);
    t.stop.abort();
  });

  it('logs the failure of a source that is added later, and goes on', async () => {
    const t = createHarness();
    await t.start();
    const watch = t.controller.watch({ name: 'mine', start: () => Promise.reject(new Error('no route')) });
    await expect(watch.waitForSync()).rejects.toThrow('no route');
    await settle();
    expect(t.logger.lines.some(({ message }) => message.includes('optional source failed'))).toBe(true);
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs.length).toBe(1);
    t.stop.abort();
  });

  it('fails when a source ends in failure after its start', async () => {
    const t = createHarness();
    let fail: (error: unknown) => void = () => undefined;
    t.controller.watch({
      name: 'mine',
      start: async (context) => {
        fail = context.fail;
        return { stop: () => undefined };
      },
    });
    const { done } = await t.start();
    fail(new Error('stream broke'));
    await expect(done).rejects.toThrow('stream broke');
  });

  it('refuses the same source twice', () => {
    const t = createHarness();
    const source: Source<unknown> = { name: 'mine', start: never };
    t.controller.watch(source);
    expect(() => t.controller.watch(source)).toThrow('watches mine already');
  });
});

describe('Controller extras', () => {
  it('reconciles what nothing happens to after the safety interval, until it is gone', async () => {
    const t = createHarness(undefined, { safetyInterval: { everyMs: 1000 } });
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(2500);
    expect(t.runs.map(({ at, priority }) => [at, priority])).toEqual([
      [0, 0],
      [1000, lowPriority],
      [2000, lowPriority],
    ]);
    t.pods.delete(pod('a'));
    await t.clock.advance(10_000);
    expect(t.runs.length).toBe(4);
    expect(t.clock.pendingTimers).toBe(0);
    t.stop.abort();
  });

  it('ends the safety interval of an object that leaves the watched namespaces, without a run', async () => {
    const t = createHarness(undefined, { safetyInterval: { everyMs: 1000 } });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    t.pods.add(pod('b'));
    await t.clock.advance(1500);
    expect(t.runs.map(({ name }) => name)).toEqual(['a', 'b', 'a', 'b']);
    t.pods.leave(pod('a'));
    await t.clock.advance(2000);
    expect(t.runs.slice(4).map(({ name }) => name)).toEqual(['b', 'b']);
    t.pods.add(pod('a')); // it is back
    await t.clock.advance(1000);
    expect(t.runs.slice(6).map(({ name }) => name)).toEqual(['a', 'b', 'a']);
    t.stop.abort();
    await done;
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('debounces changes but neither deletions nor the initial list', async () => {
    const t = createHarness(undefined, { debounce: { quietMs: 100, maxMs: 250 } });
    await t.start();
    t.pods.add(pod('initial'), true);
    await settle();
    expect(t.runs.length).toBe(1);
    for (let at = 0; at < 300; at += 50) {
      t.pods.update(pod('a'), pod('a', { resourceVersion: `${at + 2}` }));
      await t.clock.advance(50);
    }
    expect(t.runs.slice(1).map(({ at }) => at)).toEqual([250]);
    t.pods.delete(pod('b'));
    await settle();
    expect(t.runs.at(-1)?.name).toBe('b');
    t.stop.abort();
  });

  it('warns once a minute of a key that is reconciled in a loop', async () => {
    const t = createHarness(async () => ({ requeueAfterMs: 10 }), { hotLoop: { maxPerMinute: 100 } });
    await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(59_000);
    const warnings = t.logger.lines.filter(({ message }) => message.startsWith('reconciled in a loop'));
    expect(warnings.length).toBe(1);
    expect(warnings[0]?.fields['reasons']).toEqual(['requeue']);
    expect(t.count('kctl_controller_hot_loops_total')).toBe(1);
    t.stop.abort();
  });

  it('takes requests of any shape', async () => {
    const seen: unknown[] = [];
    const controller = createController<{ cluster: string; namespace: string; name: string }>({
      name: 'multi',
      reconciler: async (request) => void seen.push(request),
    });
    const stop = new AbortController();
    const done = controller.run(stop.signal);
    await settle();
    for (const cluster of ['x', 'y', 'x']) controller.enqueue({ cluster, namespace: 'n', name: 'a' });
    await settle();
    expect(seen).toEqual([
      { cluster: 'x', namespace: 'n', name: 'a' },
      { cluster: 'y', namespace: 'n', name: 'a' },
    ]);
    stop.abort();
    await done;
  });

  it('works on a queue without priorities, with the semantics of client-go', async () => {
    const t = createHarness(async () => ({ requeueAfterMs: 1000 }), { usePriorityQueue: false });
    await t.start();
    t.pods.add(pod('a'), true);
    await t.clock.advance(500);
    t.pods.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await t.clock.advance(500);
    expect(t.runs.map(({ at, priority }) => [at, priority])).toEqual([
      [0, 0],
      [500, 0],
      [1000, 0],
    ]);
    t.stop.abort();
  });

  it('names every option that is not valid', () => {
    expect(() =>
      createController({
        name: '',
        maxConcurrentReconciles: 1.5,
        cacheSyncTimeoutMs: -1,
        reconciler: async () => undefined,
      }),
    ).toThrow(/name ''.*maxConcurrentReconciles 1.5.*cacheSyncTimeoutMs -1/);
    expect(() => createController({ name: 'x', reconciler: undefined as never })).toThrow('reconciler is required');
  });

  it.each([
    [{ safetyInterval: { everyMs: 0 } }, 'safetyInterval.everyMs 0 is not valid: expected a number of ms > 0'],
    [{ safetyInterval: { everyMs: -1 } }, 'safetyInterval.everyMs -1 is not valid: expected a number of ms > 0'],
    [{ safetyInterval: { everyMs: NaN } }, 'safetyInterval.everyMs NaN'],
    [{ hotLoop: { maxPerMinute: 0 } }, 'hotLoop.maxPerMinute 0 is not valid: expected a number ≥ 1 or Infinity'],
    [{ hotLoop: { maxPerMinute: NaN } }, 'hotLoop.maxPerMinute NaN'],
    [{ debounce: { quietMs: -1, maxMs: 10 } }, 'debounce.quietMs -1 is not valid: expected a number of ms ≥ 0'],
    [{ debounce: { quietMs: 1, maxMs: NaN } }, 'debounce.maxMs NaN is not valid'],
  ])('refuses %o instead of spinning or waiting without end', (options, problem) => {
    expect(() => createController({ name: 'x', reconciler: async () => undefined, ...options })).toThrow(problem);
  });

  it('refuses a retry policy whose limits are no numbers', () => {
    expect(() => createRetryPolicy({ maxAttempts: NaN })).toThrow('maxAttempts NaN is not valid: expected an integer');
    expect(() => createRetryPolicy({ maxElapsedMs: NaN })).toThrow('maxElapsedMs NaN is not valid');
  });
});
