import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { StatusError } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { headerOf } from '@kctl/apimachinery/internal/wire';
import { settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectEvent, ReconcileRequest } from '../src/index.js';
import {
  channelSource,
  createEventChannel,
  createWebhookReceiver,
  cronSource,
  enqueueRequestForObject,
  enqueueRequestsFromMapFunc,
  funcSource,
  generationChanged,
  handlerFuncs,
  informerSource,
  kindSource,
  pollingSource,
} from '../src/index.js';
import { parseCron } from '../src/internal/index.js';
import { FakeInformer, Node, pod } from './fakes.js';
import { createHarness } from './harness.js';
import { createRecordingLogger } from './recording-logger.js';

const toSelf = enqueueRequestsFromMapFunc<string, ReconcileRequest>((name) => [{ name }]);
const names = (runs: readonly { name: string }[]): string[] => runs.map(({ name }) => name);

describe('event dispatch', () => {
  it('repeats a handler that fails until it succeeds, and keeps the order of one object', async () => {
    const t = createHarness();
    const seen: string[] = [];
    let failures = 2;
    const handler = handlerFuncs<object, ReconcileRequest>({
      create: async (event) => {
        if (event.header?.name === 'slow' && failures-- > 0) throw new Error('lookup failed');
        seen.push(`create ${event.header?.name}`);
      },
      update: (event) => void seen.push(`update ${event.header?.name}`),
    });
    const nodes = t.informers.of(Node);
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler }));
    t.pods.sync();
    const done = t.run();
    await settle();
    nodes.add({ metadata: { name: 'slow' } }, true);
    nodes.update({ metadata: { name: 'slow' } }, { metadata: { name: 'slow' } });
    nodes.add({ metadata: { name: 'quick' } }, true);
    nodes.sync();
    await settle();
    expect(seen).toEqual(['create quick']);
    // The event counts as delivered after its first failure: one object does not keep the controller from starting.
    expect(t.controller.phase).toBe('active');
    await t.clock.advance(100 + 200);
    expect(seen).toEqual(['create quick', 'create slow', 'update slow']);
    t.stop.abort();
    await done;
  });

  it('decodes no object whose header is there, also where events wait and merge', async () => {
    const t = createHarness();
    let decoded = 0;
    const informer = new FakeInformer().sync();
    const gate = Promise.withResolvers<undefined>();
    const toName = enqueueRequestForObject();
    t.controller.watch(
      informerSource({
        informer,
        handler: async (event, queue, context) => {
          if (event.type === 'create') await gate.promise;
          await toName(event, queue, context);
        },
        predicates: [generationChanged],
      }),
    );
    await t.start();
    const send = (type: 'add' | 'update', version: number): void => {
      const object = (resourceVersion: number): KubeObject => ({
        metadata: { namespace: 'ns', name: 'a', generation: resourceVersion, resourceVersion: `${resourceVersion}` },
      });
      for (const { onEvent } of informer.handlers)
        onEvent({
          type,
          header: headerOf(object(version)),
          oldHeader: type === 'add' ? undefined : headerOf(object(version - 1)),
          isInInitialList: false,
          finalStateUnknown: false,
          get object() {
            decoded++;
            return object(version);
          },
          get oldObject() {
            decoded++;
            return object(version - 1);
          },
        });
    };
    send('add', 1);
    for (let version = 2; version < 40; version++) send('update', version);
    gate.resolve(undefined);
    await settle();
    expect([[...new Set(names(t.runs))], decoded]).toEqual([['a'], 0]);
    t.stop.abort();
  });

  it('lets an event pass when a predicate throws', async () => {
    const t = createHarness();
    t.controller.watch(
      informerSource({
        informer: new FakeInformer().sync(),
        handler: handlerFuncs({ create: (_event, queue) => queue.add({ name: 'x' }) }),
        predicates: [
          () => {
            throw new Error('bad predicate');
          },
        ],
      }),
    );
    await t.start();
    t.pods.add(pod('a'));
    await settle();
    expect(t.runs.length).toBe(1);
    t.stop.abort();
  });

  it('asks predicates in order and stops at the first refusal', async () => {
    const t = createHarness();
    const asked: number[] = [];
    const predicate = (id: number, answer: boolean) => () => {
      asked.push(id);
      return answer;
    };
    const informer = new FakeInformer().sync();
    const handler = handlerFuncs<object, ReconcileRequest>({ create: (_event, queue) => queue.add({ name: 'x' }) });
    const predicates = [predicate(1, true), predicate(2, false), predicate(3, true)];
    t.controller.watch(informerSource({ informer, handler, predicates }));
    await t.start();
    informer.add(pod('a'));
    await settle();
    expect([asked, t.runs]).toEqual([[1, 2], []]);
    t.stop.abort();
  });

  it('does not take a namespace that is no longer watched for a deletion', async () => {
    const t = createHarness();
    await t.start();
    for (const handler of t.pods.handlers)
      handler.onEvent({
        type: 'delete',
        header: {
          namespace: 'n',
          name: 'a',
          uid: '',
          resourceVersion: '',
          labels: {},
          ownerReferences: [],
          generation: undefined,
          deletionTimestamp: undefined,
        },
        object: pod('a'),
        isInInitialList: false,
        finalStateUnknown: false,
        leftScope: true,
      });
    await settle();
    expect(t.runs).toEqual([]);
    t.stop.abort();
  });
});

describe('createEventChannel', () => {
  it('hands out in order what is sent before, while and after it is drained, a waiting object in its newest form', async () => {
    const channel = createEventChannel<string>({ capacity: 3, identify: (text) => text.slice(0, 1) });
    const reader = channel[Symbol.asyncIterator]();
    const read = async (): Promise<string | undefined> => (await reader.next()).value;
    for (const text of ['a1', 'b1', 'a2']) channel.send(text);
    expect([await read(), channel.length]).toEqual(['a2', 1]);
    for (const text of ['a3', 'b2', 'c1']) channel.send(text);
    expect(channel.send('d1')).toBe(false);
    expect([await read(), await read(), await read()]).toEqual(['b2', 'a3', 'c1']);
    for (let round = 0; round < 3; round++) {
      const pending = read(); // comes to the end of what waits, and must see what comes then
      await settle();
      channel.send(`a${round}`);
      channel.send(`b${round}`);
      expect([await pending, await read(), channel.length]).toEqual([`a${round}`, `b${round}`, 0]);
    }
    channel.send('e1');
    channel.close();
    expect([await read(), await read(), channel.length]).toEqual(['e1', undefined, 0]);
  });

  it('ends a reader that lets go, also one that waits', async () => {
    const channel = createEventChannel<number>();
    const reader = channel[Symbol.asyncIterator]();
    const waiting = reader.next();
    await reader.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    channel.send(1);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    const seen: number[] = [];
    for await (const value of channel) {
      seen.push(value);
      if (value === 1) channel.send(2);
      else break;
    }
    expect(seen).toEqual([1, 2]);
  });

  it('keeps equal objects apart when nothing identifies them', async () => {
    const channel = createEventChannel<string>({ capacity: 2 });
    expect(['a', 'a', 'a'].map((text) => channel.send(text))).toEqual([true, true, false]);
    channel.close();
    const all: string[] = [];
    for await (const text of channel) all.push(text);
    expect(all).toEqual(['a', 'a']);
  });
});

describe('channelSource', () => {
  it('delivers to every controller that shares it, and ends with its iterable', async () => {
    const channel = createEventChannel<string>();
    const source = channelSource({ name: 'outside', events: channel, handler: toSelf });
    const [a, b] = [createHarness(), createHarness()];
    for (const t of [a, b]) {
      t.controller.watch(source);
      await t.start();
    }
    channel.send('x');
    await settle();
    expect([names(a.runs), names(b.runs)]).toEqual([['x'], ['x']]);
    channel.close();
    await settle();
    expect(channel.send('y')).toBe(false);
    expect(a.controller.phase).toBe('active');
    a.stop.abort();
    b.stop.abort();
  });

  it('keeps what arrives while nobody listens', async () => {
    const channel = createEventChannel<string>({ capacity: 2, identify: (name) => name });
    expect(['a', 'a', 'b', 'c'].map((name) => channel.send(name))).toEqual([true, true, true, false]);
    const t = createHarness();
    t.controller.watch(channelSource({ name: 'outside', events: channel, handler: toSelf }));
    const { done } = await t.start();
    expect(names(t.runs)).toEqual(['a', 'b']);
    t.stop.abort();
    await done;
    channel.send('d');
    await settle();
    const again = new AbortController();
    const second = t.controller.run(again.signal);
    await settle();
    expect(names(t.runs)).toEqual(['a', 'b', 'd']);
    again.abort();
    await second;
  });

  it('fails the controller when the iterable throws', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield 'a';
      throw new Error('stream broke');
    }
    const t = createHarness();
    t.controller.watch(channelSource({ name: 'outside', events: broken(), handler: toSelf }));
    await expect((await t.start()).done).rejects.toThrow('stream broke');
  });
});

describe('funcSource', () => {
  it('starts and ends with the controller', async () => {
    const t = createHarness();
    let ended = false;
    t.controller.watch(
      funcSource('mine', ({ queue }) => {
        queue.add({ name: 'x' }, { reason: 'because' });
        return () => void (ended = true);
      }),
    );
    const { done } = await t.start();
    expect(names(t.runs)).toEqual(['x']);
    t.stop.abort();
    await done;
    expect(ended).toBe(true);
  });
});

describe('pollingSource', () => {
  it('makes events of what changed, and takes a failure for no change', async () => {
    const answers: (string[] | Error)[] = [['a=1', 'b=1'], ['a=1', 'b=2', 'c=1'], new Error('down'), ['a=1'], ['a=1']];
    const events: string[] = [];
    const t = createHarness();
    const things = pollingSource<string, ReconcileRequest>({
      name: 'things',
      everyMs: 1000,
      identify: (thing) => thing.slice(0, 1),
      poll: async () => {
        const answer = answers.shift() ?? [];
        if (answer instanceof Error) throw answer;
        return answer;
      },
      handler: (event: ObjectEvent<string>) => {
        events.push(`${event.type} ${event.object}`);
        return undefined;
      },
    });
    t.controller.watch(things);
    await t.start();
    expect(t.controller.phase).toBe('active');
    expect(events.splice(0)).toEqual(['create a=1', 'create b=1']);
    await t.clock.advance(1000);
    expect(events.splice(0)).toEqual(['update b=2', 'create c=1']);
    expect([things.get('b'), things.get('d'), things.list()]).toEqual(['b=2', undefined, ['a=1', 'b=2', 'c=1']]);
    await t.clock.advance(1000);
    expect(events).toEqual([]);
    await t.clock.advance(2000);
    expect(events.splice(0)).toEqual(['delete b=2', 'delete c=1']);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it.each<[string, unknown]>([
    ['an error object', { error: 'rate limited' }],
    ['an Error', new Error('down')],
    ['a number', 503],
    ['true', true],
    ['a function', () => []],
    ['a string', 'rate limited'],
    ['an empty string', ''],
    ['null', null],
    ['undefined', undefined],
    ['an object with a length', { length: 0 }],
    ['bytes', Buffer.alloc(0)],
    ['an async iterable', (async function* () {})()],
    ['a list of nothing', [undefined]],
    ['a list of null', [null, null]],
    ['a list of promises', [Promise.resolve('a=1')]],
    [
      'a list that breaks off',
      {
        *[Symbol.iterator]() {
          yield 'a=1';
          throw new Error('broken off');
        },
      },
    ],
  ])('takes %s for a poll that failed: nothing is deleted', async (_what, answer) => {
    let given: unknown = ['a=1', 'b=1'];
    const events: string[] = [];
    const logger = createRecordingLogger();
    const t = createHarness(undefined, { logger });
    t.controller.watch(
      pollingSource<string, ReconcileRequest>({
        name: 'things',
        everyMs: 1000,
        identify: (thing) => (typeof thing === 'string' ? thing.slice(0, 1) : (undefined as never)),
        poll: () => given as never,
        handler: (event: ObjectEvent<string>) => void events.push(`${event.type} ${event.object}`),
      }),
    );
    await t.start();
    expect(events.splice(0)).toEqual(['create a=1', 'create b=1']);
    given = answer;
    await t.clock.advance(1000);
    expect(events).toEqual([]);
    expect(logger.lines.filter(({ message }) => message.startsWith('poll failed'))).toHaveLength(1);
    given = ['a=1'];
    // Later than usual: it has failed.
    await t.clock.advance(1000);
    expect(events).toEqual([]);
    await t.clock.advance(1000);
    expect(events).toEqual(['delete b=1']);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it.each([undefined, 5_000])('ends a poll that hangs after its deadline (%s), and polls again', async (timeoutMs) => {
    const deadline = timeoutMs ?? 60_000;
    const signals: AbortSignal[] = [];
    const logger = createRecordingLogger();
    const t = createHarness(undefined, { logger });
    t.controller.watch(
      pollingSource<string, ReconcileRequest>({
        name: 'things',
        everyMs: 1000,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        identify: (thing) => thing,
        poll: async ({ signal }) => (signals.push(signal) === 1 ? await new Promise(() => undefined) : ['a']),
        handler: toSelf,
      }),
    );
    await t.start();
    await t.clock.advance(deadline - 1);
    expect([signals.length, signals[0]?.aborted]).toEqual([1, false]);
    await t.clock.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(logger.lines.some(({ message }) => message.startsWith('poll failed'))).toBe(true);
    await t.clock.advance(2_000);
    expect([signals.length, names(t.runs)]).toEqual([2, ['a']]);
    t.stop.abort();
  });

  it('holds the start back until the first answer, and honours Retry-After', async () => {
    let polls = 0;
    const throttled = new StatusError({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 30 } });
    const t = createHarness();
    t.controller.watch(
      pollingSource<string, ReconcileRequest>({
        name: 'things',
        everyMs: 1000,
        identify: (thing) => thing,
        poll: () => (polls++ === 0 ? Promise.reject(throttled) : Promise.resolve(['a'])),
        handler: toSelf,
      }),
    );
    await t.start();
    await t.clock.advance(29_999);
    expect([polls, t.controller.phase]).toEqual([1, 'cold']);
    await t.clock.advance(1);
    expect([polls, names(t.runs)]).toEqual([2, ['a']]);
    t.stop.abort();
  });

  it('loses no change of a time: things from elsewhere may hold Dates', async () => {
    const answers = [1, 2, 2].map((ms) => [{ name: 'a', at: new Date(ms) }]);
    const events: string[] = [];
    const t = createHarness();
    const things = pollingSource<{ name: string; at: Date }, ReconcileRequest>({
      name: 'things',
      everyMs: 1000,
      identify: ({ name }) => name,
      poll: async () => answers.shift() ?? [],
      handler: ({ type, object }: ObjectEvent<{ at: Date }>) => {
        events.push(`${type} ${object.at.getTime()}`);
        return undefined;
      },
    });
    t.controller.watch(things);
    await t.start();
    await t.clock.advance(2000);
    expect(events).toEqual(['create 1', 'update 2']);
    t.stop.abort();
  });

  it('loses no change when isSame throws', async () => {
    const answers = [['a=1'], ['a=2'], ['a=2']];
    const events: string[] = [];
    let failures = 1;
    const t = createHarness();
    const things = pollingSource<string, ReconcileRequest>({
      name: 'things',
      everyMs: 1000,
      identify: (thing) => thing.slice(0, 1),
      isSame: (before, after) => {
        if (failures-- > 0) throw new Error('cannot compare');
        return before === after;
      },
      poll: async () => answers.shift() ?? ['a=2'],
      handler: (event: ObjectEvent<string>) => {
        events.push(`${event.type} ${event.object}, known ${things.get('a') ?? ''}`);
        return undefined;
      },
    });
    t.controller.watch(things);
    await t.start();
    await t.clock.advance(1000);
    expect([events.splice(0), things.list()]).toEqual([['create a=1, known a=1'], ['a=1']]);
    await t.clock.advance(2000);
    expect(events).toEqual(['update a=2, known a=2']);
    t.stop.abort();
  });

  it('has the last answer of all controllers that share it, also when the one that began last has ended', async () => {
    let answer = ['a=1'];
    const things = pollingSource<string, ReconcileRequest>({
      name: 'things',
      everyMs: 1000,
      identify: (thing) => thing.slice(0, 1),
      poll: async () => answer,
      handler: toSelf,
    });
    const [a, b] = [createHarness(), createHarness()];
    for (const t of [a, b]) {
      t.controller.watch(things);
      await t.start();
    }
    expect([names(a.runs), names(b.runs), things.get('a')]).toEqual([['a=1'], ['a=1'], 'a=1']);
    answer = ['a=2'];
    await a.clock.advance(1000);
    expect([names(a.runs), names(b.runs), things.list()]).toEqual([['a=1', 'a=1', 'a=2'], ['a=1'], ['a=2']]);
    await b.clock.advance(1000);
    expect(names(b.runs)).toEqual(['a=1', 'a=1', 'a=2']);
    b.stop.abort();
    await b.controller.waitUntilCold();
    answer = ['a=3'];
    await a.clock.advance(1000);
    expect(things.get('a')).toBe('a=3');
    a.stop.abort();
    await a.controller.waitUntilCold();
    expect(things.get('a')).toBe('a=3');
    const again = createHarness();
    answer = [];
    again.controller.watch(things);
    await again.start();
    expect(things.list()).toEqual([]);
    again.stop.abort();
  });

  it('refuses an interval that is none', () => {
    const options = { name: 'x', identify: String, poll: async () => [], handler: toSelf };
    expect(() => pollingSource({ ...options, everyMs: 0 })).toThrow('everyMs 0');
  });
});

describe('parseCron', () => {
  const next = (expression: string, from: string): string => {
    const time = parseCron(expression).next(Date.parse(from));
    return time === undefined ? 'never' : new Date(time).toISOString().slice(0, 16);
  };

  it.each([
    ['*/15 * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:15'],
    ['0 9-17/4 * * mon-fri', '2026-01-02T17:00:30Z', '2026-01-05T09:00'],
    ['30 4 1,15 * *', '2026-01-02T00:00:00Z', '2026-01-15T04:30'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 13 * 5', '2026-01-01T00:00:00Z', '2026-01-02T00:00'],
    ['0 0 * * 7', '2026-01-01T00:00:00Z', '2026-01-04T00:00'],
    ['@hourly', '2026-12-31T23:30:00Z', '2027-01-01T00:00'],
    ['0 0 30 2 *', '2026-01-01T00:00:00Z', 'never'],
  ])('%s after %s is %s', (expression, from, expected) => {
    expect(next(expression, from)).toBe(expected);
  });

  it('looks back, and has the days of a CronJob where both fields restrict them', () => {
    const at = (text: string): number => Date.parse(text);
    const schedule = parseCron('30 4 1,15 * *');
    expect(schedule.previous(at('2026-01-15T04:30:00Z'))).toBe(at('2026-01-01T04:30:00Z'));
    expect(schedule.previous(at('2026-01-15T04:30:00.001Z'))).toBe(at('2026-01-15T04:30:00Z'));
    expect(parseCron('*/5 * * * *').previous(at('2026-01-01T00:07:31Z'))).toBe(at('2026-01-01T00:05:00Z'));
    expect(next('0 0 */2 * 1', '2026-01-01T00:00:00Z')).toBe('2026-01-03T00:00');
    expect(next('5/15 * * * *', '2026-01-01T00:06:00Z')).toBe('2026-01-01T00:20');
    expect(next('0 0 L * *', '2026-02-01T00:00:00Z')).toBe('2026-02-28T00:00');
  });

  it('agrees with itself: the occurrence before the next one is not later than the time that was asked for', () => {
    const field = fc.constantFrom('*', '0', '7', '*/3', '1-5', '2,6');
    const expressions = fc.tuple(
      field,
      field,
      fc.constantFrom('*', '1', '15', '*/2'),
      fc.constantFrom('*', '2'),
      field,
    );
    const times = fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2030-01-01') });
    fc.assert(
      fc.property(expressions, times, (fields, time) => {
        const schedule = parseCron(fields.join(' '));
        const due = schedule.next(time);
        if (due === undefined) return;
        expect(due).toBeGreaterThan(time);
        expect(due % 60_000).toBe(0);
        expect(schedule.previous(due + 1)).toBe(due);
        expect(schedule.previous(due) ?? 0).toBeLessThanOrEqual(time);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    '* * * *',
    '* * * * * *',
    '2026-01-01T00:00:00',
    '@reboot',
    '',
    '60 * * * *',
    '* * 0 * *',
    '5-1 * * * *',
    '*/0 * * * *',
    'x * * * *',
  ])('refuses %s', (expression) => {
    expect(() => parseCron(expression)).toThrow(/is not valid/);
  });
});

describe('cronSource', () => {
  it('queues at the times of the schedule, once after a jump of the clock', async () => {
    const t = createHarness();
    const times: string[] = [];
    t.controller.watch(
      cronSource({
        name: 'nightly',
        schedule: '0 * * * *',
        requests: ({ time }) => {
          times.push(new Date(time).toISOString().slice(0, 16));
          return [{ name: 'x' }];
        },
      }),
    );
    await t.start();
    await t.clock.advance(2 * 3_600_000);
    expect(times.splice(0)).toEqual(['2026-01-01T01:00', '2026-01-01T02:00']);
    t.clock.setWallTime(Date.parse('2026-01-01T07:30:00Z'));
    await t.clock.advance(60_000);
    expect(times.splice(0)).toEqual(['2026-01-01T03:00']);
    await t.clock.advance(3_600_000);
    expect(times).toEqual(['2026-01-01T08:00']);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it.each<[string, unknown]>([
    ['a string', 'abc'],
    ['null', null],
    ['an error object', { error: 'down' }],
    ['what never comes', new Promise(() => undefined)],
  ])('queues nothing for %s, and goes on', async (_what, answer) => {
    const logger = createRecordingLogger();
    const t = createHarness(undefined, { logger });
    let given: unknown = answer;
    t.controller.watch(
      cronSource<ReconcileRequest>({ name: 'minutes', schedule: '*/5 * * * *', requests: () => given as never }),
    );
    await t.start();
    await t.clock.advance(5 * 60_000 - 1 - (t.clock.now() % 60_000));
    await t.clock.advance(300_000);
    expect(t.runs).toEqual([]);
    expect(logger.lines.some(({ message }) => message.startsWith('the requests of a schedule failed'))).toBe(true);
    given = [{ name: 'a' }];
    await t.clock.advance(360_000);
    expect(names(t.runs).slice(0, 1)).toEqual(['a']);
    t.stop.abort();
  });

  it('goes on after an occurrence that failed', async () => {
    const t = createHarness();
    let calls = 0;
    t.controller.watch(
      cronSource<ReconcileRequest>({
        name: 'hourly',
        schedule: '@hourly',
        requests: () => {
          if (calls++ === 0) throw new Error('not now');
          return [{ name: 'x' }];
        },
      }),
    );
    await t.start();
    await t.clock.advance(2 * 3_600_000);
    expect(names(t.runs)).toEqual(['x']);
    t.stop.abort();
  });
});

describe('createWebhookReceiver', () => {
  it('turns deliveries into events and answers what went wrong', async () => {
    const receiver = createWebhookReceiver<string>({
      path: '/hook',
      maxBytes: 100,
      capacity: 2,
      read: ({ body, headers }) => {
        if (headers['x-secret'] !== 'right') throw new Error('wrong secret');
        return body as string[];
      },
    });
    const server = createServer((request, response) => {
      void receiver.handle(request, response).then((isMine) => (isMine ? undefined : response.writeHead(404).end()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const post = async (body: string, path = '/hook', secret = 'right'): Promise<number> =>
      (await fetch(url + path, { method: 'POST', body, headers: { 'x-secret': secret } })).status;
    try {
      expect(await post('["a"]')).toBe(202);
      expect(await post('["a"]', '/other')).toBe(404);
      expect(await post('["a"]', '/hook', 'wrong')).toBe(400);
      expect(await post('not json')).toBe(400);
      expect(await post(JSON.stringify(['x'.repeat(200)]))).toBe(413);
      expect(await post('["b","c"]')).toBe(503);
      expect((await fetch(`${url}/hook`)).status).toBe(405);
      const t = createHarness();
      t.controller.watch(channelSource({ name: 'hook', events: receiver.events, handler: toSelf }));
      await t.start();
      expect(names(t.runs)).toEqual(['a', 'b']);
      expect(await post('["c"]')).toBe(202);
      await settle();
      expect(names(t.runs)).toEqual(['a', 'b', 'c']);
      t.stop.abort();
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('a webhook receiver', () => {
  it('takes a body of as many bytes as it may have', async () => {
    const receiver = createWebhookReceiver<string>({
      path: '/hook',
      maxBytes: 64,
      read: ({ body }) => body as string[],
    });
    const server = createServer((request, response) => void receiver.handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    try {
      const statuses: number[] = [];
      for (const length of [64, 65])
        statuses.push((await fetch(url, { method: 'POST', body: JSON.stringify(['x'.repeat(length - 4)]) })).status);
      expect([statuses, receiver.events.length]).toEqual([[202, 413], 1]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('takes several bodies at a time', async () => {
    const both = Promise.withResolvers<undefined>();
    let reading = 0;
    const receiver = createWebhookReceiver<string>({
      path: '/hook',
      maxBytes: 64,
      read: async ({ body }) => {
        if (++reading === 2) both.resolve(undefined);
        await both.promise;
        return body as string[];
      },
    });
    const server = createServer((request, response) => void receiver.handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const post = async (): Promise<number> => {
      const { status } = await fetch(url, { method: 'POST', body: JSON.stringify(['x'.repeat(50)]) });
      if (status !== 202) both.resolve(undefined);
      return status;
    };
    try {
      expect(await Promise.all([post(), post()])).toEqual([202, 202]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it.each([
    [false, false],
    [true, false],
    [false, true],
  ])('rejects an answer that cannot be sent unless the client hung up: %s, %s', async (ofRequest, ofResponse) => {
    const receiver = createWebhookReceiver({ path: '/hook', read: () => [] });
    const writeHead = (): never => {
      throw new Error('headers are sent');
    };
    const request = { method: 'GET', url: '/hook', destroyed: ofRequest } as never;
    const handled = receiver.handle(request, { writeHead, destroyed: ofResponse } as never);
    if (ofRequest || ofResponse) expect(await handled).toBe(true);
    else await expect(handled).rejects.toThrow('headers are sent');
  });

  it('does not reject whatever a client sends, nor where it hangs up: that would end the process', async () => {
    const receiver = createWebhookReceiver<{ id: string }>({
      path: '/hook',
      read: ({ body }) => body as { id: string }[],
      identify: ({ id }) => id.toLowerCase(),
    });
    const outcomes: unknown[] = [];
    const handled = Promise.withResolvers<undefined>();
    const server = createServer((request, response) => {
      const handle = async (): Promise<void> => {
        try {
          const isMine = await receiver.handle(request, response);
          outcomes.push(isMine);
          if (!isMine) response.writeHead(404).end();
        } catch (error) {
          outcomes.push(error);
        }
        if (outcomes.length === 6) handled.resolve(undefined);
      };
      void handle();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const send = async (text: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1');
      socket.end(text);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      return answer.split('\r\n', 1)[0] ?? '';
    };
    const post = (target: string, body: string): string =>
      `POST ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    try {
      expect(await send(post('//', '[]'))).toContain('404');
      expect(await send(post('http://[/hook', '[]'))).toContain('202');
      expect(await send(post('/hook', '[null]'))).toContain('400');
      expect(await send(post('/hook', '5'))).toContain('400');
      expect(await send(post('http://a.example/hook?x#y', '[{"id":"A"},{"id":"a"}]'))).toContain('202');
      const socket = connect(port, '127.0.0.1');
      socket.write(post('/hook', '[]'.padEnd(50)).slice(0, -10), () => socket.destroy());
      await handled.promise;
      expect(outcomes).toEqual([false, true, true, true, true, true]);
      expect(receiver.events.length).toBe(1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('sources with limits that are none', () => {
  it('are refused when they are made', () => {
    expect(() => createEventChannel({ capacity: 0 })).toThrow('createEventChannel: capacity 0 is not valid');
    expect(() => createEventChannel({ capacity: NaN })).toThrow('capacity NaN is not valid: expected an integer ≥ 1');
    const receiver = { path: '/', read: () => [] };
    expect(() => createWebhookReceiver({ ...receiver, maxBytes: NaN })).toThrow('maxBytes NaN is not valid');
    expect(() => createWebhookReceiver({ ...receiver, capacity: -1 })).toThrow('capacity -1 is not valid');
  });
});
