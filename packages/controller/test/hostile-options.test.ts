import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { channelSource, createController, funcSource } from '../src/index.js';
import { pod } from './fakes.js';
import { createHarness } from './harness.js';
import { createRecordingLogger } from './recording-logger.js';

const make = (options: object) => createController({ name: 't', reconciler: async () => undefined, ...options });

describe('a retry at a time that has passed', () => {
  it.each([0, -0, -1, -1e12])('goes through the rate limiter: afterMs %s', async (afterMs) => {
    const t = createHarness(() => Promise.reject(new Error('broken')), {
      onError: async () => ({ type: 'retry', afterMs }),
    });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(100);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 5, 15, 35, 75]);
    t.stop.abort();
    await done;
  });

  it('of a policy as of the hook', async () => {
    const t = createHarness(() => Promise.reject(new Error('broken')), {
      retryPolicy: { decide: () => ({ type: 'retry', afterMs: -5 }) },
    });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(10);
    expect(t.runs.map(({ at }) => at)).toEqual([0, 5]);
    t.stop.abort();
    await done;
  });
});

describe('a channel source', () => {
  const iterables: Readonly<Record<string, () => unknown>> = {
    'throws in the call of next': () => {
      throw new Error('no events');
    },
    'rejects in next': () => Promise.reject(new Error('no events')),
  };
  it.each(Object.keys(iterables))('ends each run with the reason when its iterable %s', async (how) => {
    const events = { [Symbol.asyncIterator]: () => ({ next: iterables[how] }) };
    const controller = make({ clock: new FakeClock() });
    controller.watch(channelSource({ name: 'c', events: events as never, handler: () => undefined }));
    for (let run = 0; run < 2; run++) {
      await expect(controller.run(new AbortController().signal)).rejects.toThrow('no events');
      expect(controller.phase).toBe('cold');
    }
  });

  it('says what is wrong with an iterable that makes no iterator', async () => {
    const controller = make({ clock: new FakeClock() });
    const events = { [Symbol.asyncIterator]: () => undefined };
    controller.watch(channelSource({ name: 'c', events: events as never, handler: () => undefined }));
    await expect(controller.run(new AbortController().signal)).rejects.toThrow('does not return an iterator');
  });
});

describe('the log of a request', () => {
  it.each<[unknown, object]>([
    ['text', { request: 'text' }],
    [5, { request: 5 }],
    [null, { request: null }],
    [{ id: 1 }, { request: { id: 1 } }],
    [{ name: 'a' }, { object: { name: 'a', namespace: '' }, namespace: '', name: 'a' }],
    [
      { namespace: 'n', name: 'a' },
      { object: { name: 'a', namespace: 'n' }, namespace: 'n', name: 'a' },
    ],
    [
      { namespace: undefined, name: 'a' },
      { object: { name: 'a', namespace: '' }, namespace: '', name: 'a' },
    ],
  ])('of %o has the fields %o', async (request, fields) => {
    const logger = createRecordingLogger();
    const controller = createController<unknown>({
      name: 't',
      logger,
      clock: new FakeClock(),
      requestKey: (each) => JSON.stringify(each),
      reconciler: async (_request, context) => context.logger.info('reconciled'),
    });
    const stop = new AbortController();
    const done = controller.run(stop.signal);
    await settle();
    controller.enqueue(request);
    await settle();
    const line = logger.lines.find(({ message }) => message === 'reconciled');
    const { controller: name, reconcileID, ...own } = line?.fields ?? {};
    expect([name, typeof reconcileID, own]).toEqual(['t', 'string', fields]);
    stop.abort();
    await done;
  });
});

describe('createController', () => {
  it.each([
    [{ maxConcurentReconciles: 4 }, 'unknown option "maxConcurentReconciles": did you mean "maxConcurrentReconciles"?'],
    [{ hotLoop: { maxPerMin: 3 } }, 'unknown option "hotLoop.maxPerMin": did you mean "maxPerMinute"?'],
    [{ runLimit: { runs: 1, perMs: 1, run: 2 } }, 'unknown option "runLimit.run": did you mean "runs"?'],
    [{ debounce: { quietMs: 1, maxMs: 2, maxms: 2 } }, 'unknown option "debounce.maxms": did you mean "maxMs"?'],
    [
      { hotLoop: false, runLimit: { runs: 1, perMs: 1, run: 2 } },
      'unknown option "runLimit.run": did you mean "runs"?',
    ],
    [{ eventsDuringBackoff: 'never' }, 'eventsDuringBackoff "never" is not valid'],
    [{ recoverPanic: 'no' }, 'recoverPanic "no" is not valid: expected true or false'],
    [{ needLeaderElection: 'false' }, 'needLeaderElection "false" is not valid'],
    [{ retryPolicy: {} }, 'retryPolicy is not valid: expected one with decide()'],
    [{ rateLimiter: 5 }, 'rateLimiter is not valid'],
    [{ newQueue: {} }, 'newQueue is not a function'],
    [{ onError: 'log' }, 'onError is not a function'],
    [
      { logFields: {}, requestKey: 'name' },
      'requestKey is not a function: it is a value of type string; logFields is not a function: it is a value of type object',
    ],
  ])('refuses %o by name', (options, problem) => {
    expect(() => make(options)).toThrow(`controller "t": ${problem}`);
  });

  it.each([
    { maxConcurrentReconciles: 0 },
    { cacheSyncTimeoutMs: 0, reconciliationTimeoutMs: 0 },
    { debounce: { quietMs: 0, maxMs: Infinity } },
    { runLimit: { runs: 1, perMs: 1 } },
    { safetyInterval: { everyMs: 1 } },
    { hotLoop: {} },
    { hotLoop: false },
    { hotLoop: { maxPerMinute: Infinity } },
    { eventsDuringBackoff: 'immediate' },
    { eventsDuringBackoff: 'oncePerWindow' },
    { retryPolicy: { decide: () => ({ type: 'stop' }) }, rateLimiter: { when: () => 0, forget: () => undefined } },
  ])('takes %o', (options) => {
    expect(() => make(options)).not.toThrow();
  });

  it.each<[object, string]>([
    [{ maxConcurrentReconciles: -1 }, 'maxConcurrentReconciles -1 is not valid'],
    [{ maxConcurrentReconciles: 1.5 }, 'maxConcurrentReconciles 1.5 is not valid'],
    [{ cacheSyncTimeoutMs: -1 }, 'cacheSyncTimeoutMs -1 is not valid'],
    [{ reconciliationTimeoutMs: Number.NaN }, 'reconciliationTimeoutMs NaN is not valid'],
    [{ debounce: { quietMs: -1, maxMs: 1 } }, 'debounce.quietMs -1 is not valid'],
    [{ debounce: { quietMs: 1, maxMs: Number.NaN } }, 'debounce.maxMs NaN is not valid'],
    [{ runLimit: { runs: 0, perMs: 1 } }, 'runLimit.runs 0 is not valid'],
    [{ runLimit: { runs: 1.5, perMs: 1 } }, 'runLimit.runs 1.5 is not valid'],
    [{ runLimit: { runs: 1, perMs: 0 } }, 'runLimit.perMs 0 is not valid'],
    [{ safetyInterval: { everyMs: 0 } }, 'safetyInterval.everyMs 0 is not valid'],
    [{ hotLoop: { maxPerMinute: 0 } }, 'hotLoop.maxPerMinute 0 is not valid'],
    [{ hotLoop: true }, 'hotLoop true is not valid'],
    [{ retryPolicy: null }, 'retryPolicy is not valid'],
    [{ name: '' }, "name '' is not valid: must specify Name for Controller"],
    [{ name: 5 }, 'name 5 is not valid: must specify Name for Controller'],
    [{ accessNeeds: {} }, 'accessNeeds'],
    [{ reconciler: {} }, 'reconciler is required: a function or { reconcile }'],
    [{ reconciler: undefined }, 'reconciler is required: a function or { reconcile }'],
    [{ maxConcurrentReconciles: -1, cacheSyncTimeoutMs: -1 }, '; cacheSyncTimeoutMs -1'],
  ])('refuses %o, and says which', (options, problem) => {
    expect(() => make(options)).toThrow(problem);
  });

  it.each([undefined, null, 5])('refuses the options %o', (options) => {
    expect(() => createController(options as never)).toThrow(
      'createController: expected options: { name, reconciler }',
    );
  });

  it('takes what is undefined for not given', () => {
    expect(() => make({ hotLoop: undefined, onError: undefined, maxConcurentReconciles: undefined })).not.toThrow();
  });

  it.each([[{ startpolicy: 'optional' }], ['optional'], [null]])('refuses the watch options %o', (options) => {
    const source = funcSource('f', () => undefined);
    expect(() => make({}).watch(source, options as never)).toThrow(TypeError);
    expect(() => make({}).reconcileAllOn(source, options as never)).toThrow(TypeError);
  });

  it.each([[undefined], [{}], [null]])('refuses to run with the signal %o, and can run after that', async (signal) => {
    const t = createHarness();
    await expect(t.controller.run(signal as never)).rejects.toThrow('controller "test": run needs an AbortSignal');
    const { done } = await t.start();
    t.controller.enqueue({ name: 'a' });
    await settle();
    expect(t.runs).toHaveLength(1);
    t.stop.abort();
    await done;
  });
});
