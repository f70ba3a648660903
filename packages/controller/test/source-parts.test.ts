// The parts of sources, each by itself, with a context in the hands of the test.
import { headerOf } from '@kctl/apimachinery/internal/wire';
import { FakeClock, settle } from '@kctl/wait/testing';
import { Turn } from '@kctl/delivery';
import { describe, expect, it } from 'vitest';
import type { EventHandler, ReconcileRequest, Source, SourceContext, SourceEnqueueOptions } from '../src/index.js';
import {
  channelSource,
  createEventChannel,
  createWebhookReceiver,
  cronSource,
  enqueueRequestForObject,
  funcSource,
  informerSource,
  kindSource,
  pollEachSource,
  pollingSource,
} from '../src/index.js';
import { parseCron } from '../src/internal/index.js';
import { EventDispatcher } from '../src/source/event-dispatcher.js';
import { listed } from '../src/source/lookup.js';
import { FakeInformer, FakeInformers, Node, Pod, pod, StoringInformer } from './fakes.js';
import { createHarness } from './harness.js';
import { createRecordingLogger } from './recording-logger.js';

const toObject = enqueueRequestForObject();
const nothing: EventHandler<unknown, ReconcileRequest> = () => undefined;

function contextOf() {
  const clock = new FakeClock();
  const logger = createRecordingLogger();
  const stop = new AbortController();
  const added: [string, SourceEnqueueOptions | undefined][] = [];
  const left: unknown[] = [];
  const failures: unknown[] = [];
  const context: SourceContext<ReconcileRequest> = {
    clock,
    logger,
    random: () => 0.5,
    signal: stop.signal,
    fail: (error) => void failures.push(error),
    queue: {
      add: (request, options) => void added.push([request.name, options]),
      left: (request) => void left.push(request),
    },
  };
  const names = (): string[] => added.map(([name]) => name);
  const messages = (): string[] => logger.lines.map(({ message }) => message);
  return { clock, logger, stop, added, left, failures, context, names, messages };
}

describe('what a source is made of', () => {
  const informers = new FakeInformers();
  const informer = new FakeInformer();
  const events = createEventChannel<string>();
  const requests = (): never[] => [];
  const poll = async (): Promise<never[]> => [];
  const makers: Record<
    string,
    { readonly make: (options: never) => unknown; readonly good: object; readonly bad: object }
  > = {
    channelSource: {
      make: channelSource,
      good: { name: 'x', events, handler: nothing },
      bad: { name: 5, events: [undefined, null, [], {}], handler: [undefined, 5], predicates: [{}, [5]], more: 1 },
    },
    cronSource: {
      make: cronSource,
      good: { name: 'x', schedule: '@daily', requests },
      bad: {
        name: [undefined, ''],
        schedule: [undefined, null, 5, 'x', '0 0 * * * *'],
        requests: [undefined, []],
        timeoutMs: [0, 'x'],
        more: 1,
      },
    },
    createEventChannel: {
      make: createEventChannel,
      good: {},
      bad: { capacity: [0, 1.5, Number.NaN, '5'], identify: 'name', more: 1 },
    },
    createWebhookReceiver: {
      make: createWebhookReceiver,
      good: { path: '/x', read: requests },
      bad: {
        path: [undefined, '', 'x', 5],
        read: [undefined, 5],
        identify: 5,
        maxBytes: [0, Number.NaN, '5'],
        more: 1,
      },
    },
    funcSource: {
      make: (options: { name: string; start: () => undefined }) => funcSource(options.name, options.start),
      good: { name: 'x', start: () => undefined },
      bad: { name: [undefined, ''], start: [undefined, 5] },
    },
    informerSource: {
      make: informerSource,
      good: { informer, handler: nothing },
      bad: {
        informer: [undefined, null, {}, 5],
        handler: [undefined, 5],
        predicates: [{}, [5]],
        handlerConcurrency: [0, 'x'],
        more: 1,
      },
    },
    kindSource: {
      make: kindSource,
      good: { informers, kind: Pod, handler: nothing },
      bad: {
        informers: [undefined, null, 5, 'x', {}, { informer: 5 }],
        kind: [undefined, null, 5, {}, 'Pod'],
        handler: [undefined, 5],
        predicates: [{}, [5]],
        handlerConcurrency: [0, 'x'],
        more: 1,
      },
    },
    pollEachSource: {
      make: pollEachSource,
      good: { name: 'x', informers, kind: Pod, poll, everyMs: 1 },
      bad: {
        informers: [undefined, {}],
        kind: [undefined],
        poll: [undefined, 5],
        everyMs: [0, 'x'],
        concurrency: [0, 1.5, '2'],
        timeoutMs: [0],
        isSame: 5,
        waitForFirst: 'yes',
        more: 1,
      },
    },
    pollingSource: {
      make: pollingSource,
      good: { name: 'x', poll, identify: String, handler: nothing, everyMs: 1 },
      bad: {
        poll: [undefined, 5],
        identify: [undefined, 5],
        handler: [undefined, 5],
        predicates: [{}, [5]],
        handlerConcurrency: [0],
        everyMs: [0, 'x'],
        timeoutMs: [0],
        isSame: 5,
        waitForFirst: 'yes',
        more: 1,
      },
    },
  };
  const rows = Object.entries(makers).flatMap(([name, { bad }]) =>
    Object.entries(bad).flatMap(([option, values]) =>
      (Array.isArray(values) ? values : [values]).map((value: unknown) => [name, option, value] as const),
    ),
  );

  it.each(rows)('is checked when it is made: %s with %s %o', async (name, option, value) => {
    const { make, good } = makers[name]!;
    expect(() => make(good as never)).not.toThrow();
    const given = { ...good, [option]: value } as never;
    const isStarted = async (): Promise<unknown> => (make(given) as Source<never>).start(contextOf().context);
    // pollEachSource makes its kind source when it starts.
    if (name === 'pollEachSource' && ['informers', 'kind'].includes(option))
      await expect(isStarted()).rejects.toThrow(TypeError);
    else expect(() => make(given)).toThrow(TypeError);
  });

  it.each<[unknown, string]>([
    [5, 'x returned a value of type number: expected a list, such as [] if there is nothing'],
    ['abc', 'x returned a value of type string: expected a list'],
    [null, 'x returned null: expected a list'],
    [undefined, 'x returned undefined: expected a list'],
    [{}, 'x returned a value of type object: expected a list'],
    [Buffer.from('a'), 'x returned a value of type object: expected a list'],
    [['a', undefined], 'x returned a list with undefined at 1'],
    [[null], 'x returned a list with null at 0'],
    [['a', 'b', () => 1], 'x returned a list with a value of type function at 2'],
  ])('gives a list: not %o', (given, message) => {
    expect(() => listed('x', given as never)).toThrow(message);
    expect(listed('x', new Set(['a', 0, '']))).toEqual(['a', 0, '']);
  });
});

describe('an event that is dispatched', () => {
  function dispatcherOf(handler: EventHandler<never, ReconcileRequest>, t: ReturnType<typeof contextOf> = contextOf()) {
    const options = {
      source: 'the source',
      handler: handler as never,
      predicates: [],
      turn: new Turn(),
      context: t.context,
    };
    return { ...t, dispatcher: new EventDispatcher<object, ReconcileRequest>(options) };
  }

  it('names its cause: source, kind of change, object and header', async () => {
    const t = dispatcherOf((_event, queue) => {
      queue.add({ name: 'r' });
      return undefined;
    });
    const header = headerOf({ metadata: { name: 'h' } });
    t.dispatcher.dispatch({ type: 'create', isInInitialList: false, header, object: pod('a') });
    t.dispatcher.dispatch({ type: 'generic', object: pod('a') });
    t.dispatcher.dispatch({ type: 'generic', object: { odd: true } });
    await settle();
    const reason = t.added.map(([, options]) => options?.reason);
    expect(reason).toEqual(['the source create h', 'the source generic default/a', 'the source generic ']);
    expect(t.added.map(([, options]) => options?.cause?.header?.name)).toEqual(['h', 'a', undefined]);
    expect(t.added[0]?.[1]?.cause?.header).toBe(header);
    expect(t.added.map(([, options]) => options?.cause?.name)).toEqual(['h', 'default/a', undefined]);
    expect(t.added[0]?.[1]?.cause).toMatchObject({ source: 'the source', type: 'create' });
  });

  it('reaches no handler after the end, and none that waits', async () => {
    const gate = Promise.withResolvers<undefined>();
    const seen: string[] = [];
    const t = dispatcherOf(async ({ object }: { object: { metadata: { name?: string } } }) => {
      seen.push(object.metadata.name ?? '');
      await gate.promise;
    });
    t.dispatcher.dispatch({ type: 'generic', object: pod('a') });
    t.dispatcher.dispatch({ type: 'generic', object: pod('b') });
    await settle();
    t.stop.abort();
    gate.resolve(undefined);
    t.dispatcher.dispatch({ type: 'generic', object: pod('c') });
    await settle();
    expect(seen).toEqual(['a']);
    await dispatcherOf(nothing, t).dispatcher.idle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('tells the queue of an object that left, if its handler knows the request of it', () => {
    const header = headerOf({ metadata: { namespace: 'n', name: 'a' } });
    const own = dispatcherOf(toObject);
    own.dispatcher.left(header);
    expect(own.left).toEqual([{ namespace: 'n', name: 'a' }]);
    own.stop.abort();
    own.dispatcher.left(header);
    expect(own.left).toHaveLength(1);
    const other = dispatcherOf(nothing);
    other.dispatcher.left(header);
    expect(other.left).toEqual([]);
    const { left: _left, ...queue } = other.context.queue;
    const plain = dispatcherOf(toObject, { ...other, context: { ...other.context, queue } });
    expect(() => plain.dispatcher.left(header)).not.toThrow();
  });

  it('has to wait behind a thousand that are not handled', async () => {
    const gate = Promise.withResolvers<undefined>();
    const t = dispatcherOf(() => gate.promise);
    let sent = 0;
    for (; t.dispatcher.room() === undefined && sent < 2_000; sent++)
      t.dispatcher.dispatch({ type: 'generic', object: pod(`p${sent}`) });
    expect(sent).toBe(1_001); // one of them is being handled
    gate.resolve(undefined);
    await t.dispatcher.room();
    expect(t.dispatcher.room()).toBeUndefined();
  });

  it('says whose predicate failed', () => {
    const t = contextOf();
    const broken = (): never => {
      throw new Error('bad');
    };
    const options = {
      source: 's',
      handler: nothing as never,
      predicates: [broken],
      turn: new Turn(),
      context: t.context,
    };
    const dispatcher = new EventDispatcher<object, ReconcileRequest>(options);
    dispatcher.dispatch({ type: 'generic', object: pod('a') });
    dispatcher.dispatch({ type: 'generic', object: {} });
    expect(t.logger.lines.map(({ fields }) => fields['object'])).toEqual(['default/a', '']);
  });

  it('is handled once, and frees the later ones of its object, after a failure too', async () => {
    let failures = 1;
    const seen: string[] = [];
    const t = dispatcherOf((event: { object: { metadata: { resourceVersion?: string } } }) => {
      if (failures-- > 0) throw new Error('not yet');
      seen.push(event.object.metadata.resourceVersion ?? '');
      return undefined;
    });
    for (const resourceVersion of ['1', '2', '3'])
      t.dispatcher.dispatch({ type: 'generic', object: pod('a', { resourceVersion }) });
    await t.clock.advance(100);
    expect([seen.at(-1), t.clock.pendingTimers]).toEqual(['3', 0]);
    t.dispatcher.dispatch({ type: 'generic', object: pod('a', { resourceVersion: '4' }) });
    await settle();
    expect(seen.at(-1)).toBe('4');
  });
});

describe('a channel', () => {
  it('is read once, whoever listens', async () => {
    let iterators = 0;
    const channel = createEventChannel<string>();
    const events = { [Symbol.asyncIterator]: () => (iterators++, channel[Symbol.asyncIterator]()) };
    const source = channelSource<string, ReconcileRequest>({
      name: 'x',
      events,
      handler: ({ object }, queue) => {
        queue.add({ name: object });
        return undefined;
      },
    });
    const [a, b] = [contextOf(), contextOf()];
    for (const t of [a, b]) await source.start(t.context);
    channel.send('x');
    await settle();
    expect([iterators, a.names(), b.names()]).toEqual([1, ['x'], ['x']]);
  });

  it.each([undefined, null, 5, {}, { next: 5 }])('whose iterator is %o fails its start', async (iterator) => {
    const events = { [Symbol.asyncIterator]: () => iterator } as never;
    const source = channelSource({ name: 'x', events, handler: nothing });
    await expect(async () => source.start(contextOf().context)).rejects.toThrow(
      'does not return an iterator with next()',
    );
  });

  it('that is closed ends a reader that waits', async () => {
    const channel = createEventChannel<string>();
    const next = channel[Symbol.asyncIterator]().next();
    await settle();
    channel.close();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(channel.send('x')).toBe(false);
  });
});

describe('a schedule', () => {
  it('takes blanks around it, and refuses what is not a string', () => {
    expect(parseCron('  */5 * * * * ').next(0)).toBe(300_000);
    for (const given of [undefined, null, 5, {}])
      expect(() => parseCron(given as never)).toThrow(/^cron .* is not valid/);
  });

  const startCron = async (
    t: ReturnType<typeof contextOf>,
    schedule: string,
    requests: () => Promise<ReconcileRequest[]> | ReconcileRequest[],
  ): Promise<{ stop: () => unknown }> =>
    cronSource<ReconcileRequest>({ name: 'x', schedule, requests }).start(t.context);

  it('is kept to the ms, from any second on', async () => {
    const t = contextOf();
    await t.clock.advance(61_234);
    const times: number[] = [];
    const started = await startCron(t, '*/5 * * * *', () => {
      times.push(t.clock.now() % 300_000);
      return [];
    });
    await t.clock.advance(600_000);
    expect(times).toEqual([0, 0]);
    t.stop.abort();
    await started.stop();
    expect([t.failures, t.messages(), t.clock.pendingTimers]).toEqual([[], [], 0]);
  });

  it('that never comes is said to have ended', async () => {
    const t = contextOf();
    await startCron(t, '0 0 30 2 *', () => []);
    await settle();
    expect(t.messages()).toEqual(['the schedule has no further occurrences']);
    expect([t.failures, t.clock.pendingTimers]).toEqual([[], 0]);
  });

  it('ends with its source, also during an occurrence, and without a failure', async () => {
    const t = contextOf();
    const started = await startCron(t, '* * * * *', () => new Promise(() => undefined));
    await t.clock.advance(60_000);
    let hasStopped = false;
    void Promise.resolve(started.stop()).then(() => (hasStopped = true));
    await settle();
    expect(hasStopped).toBe(false);
    t.stop.abort();
    await settle();
    expect([hasStopped, t.messages(), t.failures]).toEqual([true, [], []]);
  });

  it('fails its source if its clock does', async () => {
    const t = contextOf();
    const broken = new Error('no timers');
    Object.assign(t.clock, {
      setTimer: () => {
        throw broken;
      },
    });
    await startCron(t, '* * * * *', () => []);
    await settle();
    expect(t.failures).toEqual([broken]);
  });
});

describe('an informer as a source', () => {
  it('holds the start up until it has synced, and loses its handler at the end', async () => {
    const t = createHarness();
    t.pods.sync();
    const informer = new FakeInformer();
    t.controller.watch(informerSource({ informer, handler: toObject }));
    const { done } = await t.start();
    informer.add(pod('a'), true);
    await settle();
    expect([t.controller.phase, informer.handlers.size]).toEqual(['cold', 1]);
    informer.sync();
    await settle();
    expect([t.controller.phase, t.runs.length]).toEqual(['active', 1]);
    t.stop.abort();
    await done;
    expect(informer.handlers.size).toBe(0);
  });

  it('hands its objects over once more, with low priority, as often as it is asked', async () => {
    const informer = new StoringInformer().sync();
    informer.add(pod('a'));
    const t = contextOf();
    const started = await informerSource({ informer, handler: toObject }).start(t.context);
    await started.waitForSync?.(t.stop.signal);
    t.added.length = 0;
    for (let round = 1; round <= 2; round++) {
      await started.replay?.();
      expect([t.names(), informer.handlers.size]).toEqual([Array(round).fill('a'), 1]);
    }
    expect(t.added.map(([, options]) => options?.priority)).toEqual([-100, -100]);
    await started.stop();
    expect(informer.handlers.size).toBe(0);
  });

  it.each(['source', 'replay'])('fails the %s if it returns no registration', async (which) => {
    const informer = new StoringInformer().sync();
    const t = contextOf();
    const broken = { addEventHandler: () => ({}) as never };
    if (which === 'source')
      await expect(informerSource({ informer: broken, handler: toObject }).start(t.context)).rejects.toThrow(
        'addEventHandler of the informer returned',
      );
    else {
      const started = await informerSource({ informer, handler: toObject }).start(t.context);
      informer.addEventHandler = broken.addEventHandler;
      await expect(started.replay?.()).rejects.toThrow('addEventHandler of the informer returned');
    }
  });
});

describe('a kind as a source', () => {
  it('is named by its kind, and by the shape of the objects if that is not the whole', () => {
    const informers = new FakeInformers();
    const name = (kind: typeof Pod): string => kindSource({ informers, kind, handler: nothing }).name;
    expect(name(Pod)).toBe('kind source: Pod');
    expect(name({ ...Pod, shape: 'metadata' } as never)).toBe('kind source: Pod (metadata)');
  });

  it('says which kind it asks for again', async () => {
    const informers = new FakeInformers();
    informers.failures = [new Error('no matches for kind')];
    const t = contextOf();
    const started = await kindSource({ informers, kind: Node, handler: toObject }).start(t.context);
    await settle();
    expect(t.logger.lines).toMatchObject([{ level: 'error', fields: { kind: 'Node', retryInMs: 10_000 } }]);
    const stop = new AbortController();
    const synced = started.waitForSync?.(stop.signal);
    stop.abort();
    await expect(synced).rejects.toThrow('no matches for kind');
    await started.replay?.(); // nothing to hand over yet
    t.stop.abort();
    await started.stop();
    expect([t.clock.pendingTimers, t.failures, t.logger.lines.length]).toEqual([0, [], 1]);
  });

  it.each<[string, object, string]>([
    ['informer', { informer: async () => ({}) }, 'informer of the informers returned'],
    ['loan', { informer: async () => new FakeInformer(), acquire: () => ({}) }, 'acquire of the informers returned'],
  ])('asks again for what is not an %s', async (_what, informers, message) => {
    const t = contextOf();
    await kindSource({ informers: informers as never, kind: Node, handler: toObject }).start(t.context);
    await settle();
    expect(t.logger.lines.map(({ fields }) => String(fields['error']))).toEqual([expect.stringContaining(message)]);
    t.stop.abort();
    await settle();
  });

  it('fails if the informer gives no registration', async () => {
    const t = contextOf();
    const informers = { informer: async () => ({ addEventHandler: () => ({}) }) } as never;
    const started = await kindSource({ informers, kind: Node, handler: toObject }).start(t.context);
    await settle();
    expect(t.failures.map(String)).toEqual([expect.stringContaining('addEventHandler of the informer returned')]);
    await started.stop();
  });

  it('gives an informer back that came after its end', async () => {
    const t = contextOf();
    const informer = new FakeInformer();
    const given = Promise.withResolvers<FakeInformer>();
    let returned = 0;
    const loan = { informer, [Symbol.asyncDispose]: async () => void returned++ };
    const lending = {
      informer: () => given.promise,
      acquire: () => {
        t.stop.abort();
        return loan;
      },
    };
    const started = await kindSource({ informers: lending as never, kind: Node, handler: toObject }).start(t.context);
    await started.stop();
    expect([returned, informer.handlers.size]).toEqual([1, 0]);
  });

  it('reports no informer that fails after its end', async () => {
    const t = contextOf();
    const given = Promise.withResolvers<FakeInformer>();
    const informers = { informer: () => given.promise };
    const started = await kindSource({ informers, kind: Node, handler: toObject }).start(t.context);
    t.stop.abort();
    given.reject(new Error('too late'));
    await settle();
    await started.stop();
    expect(t.messages()).toEqual([]);
  });
});

describe('a poll', () => {
  const poller = (answers: () => Promise<string[]>, over: object = {}) =>
    pollingSource<string, ReconcileRequest>({
      name: 'things',
      everyMs: 1_000,
      identify: (thing) => thing.slice(0, 1),
      poll: answers,
      handler: (event, queue) => {
        const first = event.type === 'create' ? ` ${String(event.isInInitialList)}` : '';
        const unknown = event.type === 'delete' ? ` ${String(event.deleteStateUnknown)}` : '';
        queue.add({ name: `${event.type} ${event.object}${first}${unknown}` });
        return undefined;
      },
      ...over,
    });

  it('has nothing before its first answer, hands over what there is as an initial list, and later changes as such', async () => {
    let answer = ['a1'];
    const source = poller(async () => answer);
    expect([source.list(), source.get('a')]).toEqual([[], undefined]);
    const t = contextOf();
    const started = await source.start(t.context);
    await started.waitForSync?.(t.stop.signal);
    expect(t.names()).toEqual(['create a1 true']);
    answer = ['b1'];
    await t.clock.advance(1_000);
    expect(t.names().slice(1)).toEqual(['create b1 false', 'delete a1 false']);
    t.added.length = 0;
    await started.replay?.();
    expect(t.added).toMatchObject([['create b1 true', { priority: -100 }]]);
    let hasStopped = false;
    t.stop.abort();
    await Promise.resolve(started.stop()).then(() => (hasStopped = true));
    expect([hasStopped, t.failures, t.messages(), t.clock.pendingTimers]).toEqual([true, [], [], 0]);
  });

  it('has nothing to hand over once more before its first answer', async () => {
    const t = contextOf();
    const started = await poller(() => new Promise(() => undefined)).start(t.context);
    await started.replay?.();
    expect([t.names(), t.messages()]).toEqual([[], []]);
    t.stop.abort();
    await started.stop();
  });

  it('merges what waits by the identity of the object', async () => {
    const gate = Promise.withResolvers<undefined>();
    const seen: string[] = [];
    let round = 0;
    const t = contextOf();
    const started = await poller(async () => [`a${round}`, `b${round}`], {
      handler: async (event: { type: string; object: string }) => {
        seen.push(`${event.type} ${event.object}`);
        await gate.promise;
      },
      waitForFirst: false,
    }).start(t.context);
    expect(started.waitForSync).toBeUndefined();
    for (round = 1; round < 29; round++) await t.clock.advance(1_000);
    gate.resolve(undefined);
    await settle();
    expect(seen.filter((line) => line.includes(' b')).length).toBeLessThan(20);
    expect(seen).toContain('update b28');
    t.stop.abort();
    await started.stop();
  });

  it('that answers after the end changes nothing and is not said to have failed', async () => {
    for (const settleLate of [
      (late: PromiseWithResolvers<string[]>) => late.resolve(['b1']),
      (late: PromiseWithResolvers<string[]>) => late.reject(new Error('late')),
    ]) {
      const late = Promise.withResolvers<string[]>();
      const answers = [Promise.resolve(['a1']), late.promise];
      const source = poller(() => answers.shift() ?? Promise.resolve([]));
      const t = contextOf();
      const started = await source.start(t.context);
      await t.clock.advance(1_000);
      t.stop.abort();
      settleLate(late);
      await started.stop();
      expect([t.names(), source.list(), t.messages(), t.failures]).toEqual([['create a1 true'], ['a1'], [], []]);
    }
  });

  it('fails its source if its clock does', async () => {
    const t = contextOf();
    const broken = new Error('no timers');
    let calls = 0;
    const { setTimer } = t.clock;
    Object.assign(t.clock, {
      setTimer: (...given: Parameters<typeof setTimer>) => {
        if (calls++ > 0) throw broken;
        return setTimer.apply(t.clock, given);
      },
    });
    const started = await poller(async () => ['a1']).start(t.context);
    await started.stop();
    expect(t.failures).toEqual([broken]);
  });

  it('keeps the answers of a source that goes on, and forgets those of an earlier run', async () => {
    let answer = Promise.resolve(['a1']);
    const source = poller(() => answer);
    const [a, b] = [contextOf(), contextOf()];
    const first = await source.start(a.context);
    await settle();
    answer = new Promise(() => undefined);
    const second = await source.start(b.context);
    await settle();
    expect(source.list()).toEqual(['a1']);
    for (const t of [a, b]) t.stop.abort();
    await first.stop();
    await second.stop();
    const third = await source.start(contextOf().context);
    expect(source.list()).toEqual([]);
    void third;
  });

  it.each<[unknown, boolean]>([
    [1, true],
    [undefined, false],
    [{}, false],
  ])('identifies objects by %o: %s', async (identity, isValid) => {
    const t = contextOf();
    await poller(async () => ['a1'], { identify: () => identity }).start(t.context);
    await settle();
    expect([t.names().length, t.messages().length]).toEqual(isValid ? [1, 0] : [0, 1]);
  });
});

describe('a poll of each object', () => {
  const each = (
    poll: (request: { key: ReconcileRequest; signal: AbortSignal }) => Promise<unknown>,
    over: object = {},
  ) => {
    const informers = new FakeInformers();
    const source = pollEachSource<unknown>({
      name: 'x',
      informers,
      kind: Node,
      everyMs: 1_000,
      poll: poll,
      ...over,
    });
    return { source, nodes: informers.of(Node).sync() };
  };

  it('starts without its first answers, and hands over all objects once more when it is asked', async () => {
    const { source, nodes } = each(() => new Promise(() => undefined));
    const t = contextOf();
    const started = await source.start(t.context);
    await settle();
    nodes.add({ metadata: { name: 'a' } }, true);
    await settle();
    await started.waitForSync?.(t.stop.signal);
    await started.replay?.();
    expect(t.added).toEqual([['a', { reason: 'poll-each source: x a', priority: -100 }]]);
    t.stop.abort();
    await started.stop();
  });

  it('keeps one poll for each object, however many events it has', async () => {
    const asked: ReconcileRequest[] = [];
    const { source, nodes } = each(async ({ key }) => void asked.push(key));
    const t = contextOf();
    const started = await source.start(t.context);
    await settle();
    const node = { metadata: { name: 'a' } };
    nodes.add(node);
    nodes.update(node, node);
    await settle();
    nodes.update(node, node);
    await settle();
    expect(asked).toEqual([{ name: 'a' }]);
    t.stop.abort();
    await started.stop();
  });

  it('waits for the first answers only of objects that stay', async () => {
    const { source, nodes } = each(() => new Promise(() => undefined), { waitForFirst: true });
    const t = contextOf();
    const started = await source.start(t.context);
    await settle();
    nodes.add({ metadata: { name: 'a' } }, true);
    await settle();
    let hasSynced = false;
    void started.waitForSync?.(t.stop.signal).then(() => (hasSynced = true));
    await settle();
    expect(hasSynced).toBe(false);
    nodes.delete({ metadata: { name: 'a' } });
    await settle();
    expect(hasSynced).toBe(true);
    t.stop.abort();
    await started.stop();
  });

  it('that answers or fails after its object has gone changes nothing', async () => {
    for (const failure of [undefined, new Error('late')]) {
      const late = Promise.withResolvers<unknown>();
      const { source, nodes } = each(() => late.promise);
      const t = contextOf();
      const started = await source.start(t.context);
      await settle();
      nodes.add({ metadata: { name: 'a' } });
      await settle();
      nodes.delete({ metadata: { name: 'a' } });
      if (failure === undefined) late.resolve('red');
      else late.reject(failure);
      await settle();
      expect([t.names(), source.get({ name: 'a' }), t.messages(), t.clock.pendingTimers]).toEqual([
        [],
        undefined,
        [],
        0,
      ]);
      t.stop.abort();
      await started.stop();
    }
  });

  it('says for which object it failed', async () => {
    const { source, nodes } = each(() => Promise.reject(new Error('down')));
    const t = contextOf();
    const started = await source.start(t.context);
    await settle();
    nodes.add({ metadata: { name: 'a' } });
    await settle();
    expect(t.logger.lines).toMatchObject([
      { message: 'poll failed; keeping the previous result', fields: { object: 'a' } },
    ]);
    t.stop.abort();
    await started.stop();
  });

  it('queues an object whose answer has gone', async () => {
    const answers: unknown[] = ['red', undefined, undefined, 'red'];
    const { source, nodes } = each(async () => answers.shift());
    const t = contextOf();
    const started = await source.start(t.context);
    await settle();
    nodes.add({ metadata: { name: 'a' } });
    const seen: number[] = [];
    for (let round = 0; round < 4; round++) {
      await settle();
      seen.push(t.added.length);
      await t.clock.advance(1_000);
    }
    expect(seen).toEqual([1, 2, 2, 3]);
    t.stop.abort();
    await started.stop();
  });
});
