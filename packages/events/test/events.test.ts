import { StatusError } from '@kctl/apimachinery';
import type { Kind, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { Patch, Writer } from '@kctl/client';
import { FakeClock, settle } from '@kctl/wait/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventBroadcaster } from '../src/index.js';
import type { EventBroadcaster, EventBroadcasterOptions, EventRecorder } from '../src/index.js';

type Call = {
  readonly verb: 'create' | 'patch';
  readonly apiVersion: string;
  readonly name: string;
  readonly body: Record<string, unknown>;
};

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'shop', uid: 'u1', resourceVersion: '5' },
};
const statusError = (code: number, reason: string, more: object = {}): StatusError =>
  new StatusError({ code, reason, message: reason, ...more });

let clock: FakeClock;
let calls: Call[];
let respond: (call: Call) => Promise<void> | void;
let broadcaster: EventBroadcaster;
let recorder: EventRecorder;
let stop: AbortController;
let running: Promise<void> | undefined;
let dropped: string[];

const client = {
  create: async (kind: Kind, object: KubeObject) => {
    const call: Call = {
      verb: 'create',
      apiVersion: kind.apiVersion,
      name: object.metadata.name ?? '',
      body: { ...object },
    };
    calls.push(call);
    await respond(call);
    return object;
  },
  patch: async (kind: Kind, key: ObjectKey, patch: Patch) => {
    const call: Call = {
      verb: 'patch',
      apiVersion: kind.apiVersion,
      name: key.name,
      body: patch.type === 'merge' ? { ...patch.body } : {},
    };
    calls.push(call);
    await respond(call);
    return {};
  },
} as unknown as Pick<Writer, 'create' | 'patch'>;

const start = (options: Partial<EventBroadcasterOptions> = {}): void => {
  const counter = {
    with: ({ reason = '' }: Readonly<Record<string, string>>) => ({
      inc: (by = 1) => void dropped.push(...Array.from({ length: by }, () => reason)),
      set: () => undefined,
      dec: () => undefined,
      observe: () => undefined,
    }),
    remove: () => undefined,
  };
  const metrics = {
    counter: () => counter,
    gauge: () => counter,
    histogram: () => counter,
    onCollect: () => () => undefined,
  };
  broadcaster = createEventBroadcaster({ client, clock, metrics, random: () => 0.5, ...options });
  recorder = broadcaster.recorder('example.com/shop', 'shop-1');
  running = broadcaster.run(stop.signal);
};

beforeEach(() => {
  clock = new FakeClock();
  calls = [];
  dropped = [];
  respond = () => undefined;
  stop = new AbortController();
});
afterEach(async () => {
  respond = () => undefined;
  stop.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

describe('an event', () => {
  it('is created in events.k8s.io/v1, in the namespace of what it is about', async () => {
    start();
    recorder.event(pod, {
      type: 'Warning',
      reason: 'Failed',
      action: 'Pulling',
      note: 'no image',
      related: { apiVersion: 'v1', kind: 'Node', name: 'n' },
    });
    await broadcaster.flush();
    expect(calls).toHaveLength(1);
    expect(calls[0]?.body).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^web-0\.[0-9a-f]+$/) as string, namespace: 'shop' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/shop',
      reportingInstance: 'shop-1',
      action: 'Pulling',
      reason: 'Failed',
      regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'u1', resourceVersion: '5' },
      related: { apiVersion: 'v1', kind: 'Node', name: 'n' },
      note: 'no image',
      type: 'Warning',
    });
  });

  it('is created by a clock that counts fractions of a ms', async () => {
    const { now } = clock;
    clock.now = () => now.call(clock) + 0.25;
    start();
    recorder.event(pod, { type: 'Normal', reason: 'Pulled', action: 'Pulling', note: 'a' });
    await broadcaster.flush();
    expect(calls).toHaveLength(1);
  });

  it('about a cluster-scoped object goes to default; a name that is none is left out; a long note is cut at a character', async () => {
    start();
    recorder.normal(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'system:Node' },
      'Seen',
      `${'x'.repeat(1019)}äöü`,
    );
    await broadcaster.flush();
    const { metadata, note, action } = calls[0]?.body as {
      metadata: { name: string; namespace: string };
      note: string;
      action: string;
    };
    expect(metadata.namespace).toBe('default');
    expect(metadata.name).toMatch(/^event\.[0-9a-f]+$/);
    expect(note).toBe(`${'x'.repeat(1019)}ä...`);
    expect(Buffer.byteLength(note)).toBe(1024);
    expect(action).toBe('Seen');
  });

  it('is about what was named when it was recorded, by its own fields alone', async () => {
    start();
    const reference = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-0', labels: { a: 'b' } };
    recorder.normal(reference, 'A', 'x');
    reference.name = 'web-1';
    await settle();
    expect(calls[0]?.body['regarding']).toEqual({ apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-0' });
  });

  it('that is not valid is dropped and counted, never thrown', async () => {
    start();
    recorder.event(pod, { type: 'Bad' as 'Normal', reason: 'r', note: '' });
    recorder.normal(pod, '', 'note');
    recorder.normal(pod, 'x'.repeat(129), 'note');
    recorder.normal({ metadata: { name: 'a' } }, 'NoKind', 'note');
    recorder.normal({ apiVersion: 'v1', kind: 'Pod', name: 5 as never }, 'NoName', 'note');
    recorder.normal({ ...pod, metadata: { name: 'a', namespace: {} as never } }, 'NoNamespace', 'note');
    expect(dropped).toEqual(Array.from({ length: 6 }, () => 'invalid'));
    for (const name of [undefined, null, 5])
      expect(() => broadcaster.recorder(name as never)).toThrow(`controller ${name} of an event recorder is not valid`);
    expect(() => broadcaster.recorder('a', 5 as never)).toThrow('instance 5 of an event recorder is not valid');
    expect(() => broadcaster.recorder('not a name')).toThrow('is not valid: expected a qualified name');
    expect(() => broadcaster.recorder('a', 'x'.repeat(129))).toThrow('expected 1 to 128 characters');
  });
});

describe('a series', () => {
  it('is patched at the second event, every 30 minutes, and when it has ended', async () => {
    start();
    recorder.normal(pod, 'Again', 'one');
    await settle();
    recorder.normal({ ...pod, metadata: { ...pod.metadata, resourceVersion: '6' } }, 'Again', 'one');
    await settle();
    expect(calls.map(({ verb }) => verb)).toEqual(['create', 'patch']);
    expect(calls[1]).toMatchObject({
      name: calls[0]?.name,
      body: { series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' } },
    });
    for (let minute = 1; minute <= 32; minute++) {
      recorder.normal(pod, 'Again', 'one');
      await clock.advance(60_000);
    }
    expect(calls.slice(2).map(({ body }) => body)).toEqual([
      { series: { count: 32, lastObservedTime: '2026-01-01T00:29:00.000000Z' } },
    ]);
    await clock.advance(12 * 60_000);
    expect(calls.slice(3).map(({ body }) => body)).toEqual([
      { series: { count: 34, lastObservedTime: '2026-01-01T00:31:00.000000Z' } },
    ]);
    recorder.normal(pod, 'Again', 'one');
    await settle();
    expect(calls.slice(4).map(({ verb }) => verb)).toEqual(['create']);
  });

  it('is one request when its events come faster than they are delivered', async () => {
    start();
    for (let n = 0; n < 100; n++) recorder.normal(pod, 'Flood', 'one note');
    await broadcaster.flush();
    expect(calls.map(({ verb, body }) => [verb, body['series']])).toEqual([
      ['create', undefined],
      ['patch', { count: 100, lastObservedTime: expect.anything() as string }],
    ]);
  });

  it('goes on under a new name when the server has forgotten the event', async () => {
    start();
    recorder.normal(pod, 'Again', 'one');
    await settle();
    respond = ({ verb }) => {
      if (verb === 'patch') throw statusError(404, 'NotFound');
    };
    recorder.normal(pod, 'Again', 'one');
    await broadcaster.flush();
    expect(calls.map(({ verb }) => verb)).toEqual(['create', 'patch', 'create']);
    expect(calls[2]?.name).not.toBe(calls[0]?.name);
    expect(calls[2]?.body['series']).toMatchObject({ count: 2 });
  });

  it('is told apart by object, reason, action, type, note, controller and instance', async () => {
    start();
    const other = broadcaster.recorder('other');
    recorder.normal(pod, 'A', 'x');
    recorder.normal(pod, 'B', 'x');
    recorder.warning(pod, 'A', 'x');
    recorder.event(pod, { type: 'Normal', reason: 'A', action: 'other', note: 'x' });
    recorder.normal({ ...pod, metadata: { ...pod.metadata, uid: 'u2' } }, 'A', 'x');
    other.normal(pod, 'A', 'x');
    recorder.normal(pod, 'A', 'y');
    await broadcaster.flush();
    expect(calls.filter(({ verb }) => verb === 'create')).toHaveLength(7);
  });
});

describe('notes of one reason', () => {
  const notes = (): unknown[] =>
    calls.map(({ verb, apiVersion, body }) => [verb, apiVersion, body['note'] ?? body['message']]);
  const combined = '(combined from similar events): Created pod web-';

  it('are events of their own: none is lost in a series', async () => {
    start();
    for (const name of ['web-1', 'web-2', 'web-1', 'web-3']) recorder.normal(pod, 'Created', `Created pod ${name}`);
    await broadcaster.flush();
    expect(notes()).toEqual([
      ['create', 'events.k8s.io/v1', 'Created pod web-1'],
      ['create', 'events.k8s.io/v1', 'Created pod web-2'],
      ['create', 'events.k8s.io/v1', 'Created pod web-3'],
      ['patch', 'events.k8s.io/v1', undefined],
    ]);
    expect(calls[3]).toMatchObject({ name: calls[0]?.name, body: { series: { count: 2 } } });
  });

  it('are combined from the tenth on, and show the latest: through core/v1, which alone lets a note change', async () => {
    start();
    for (let n = 1; n <= 12; n++) {
      recorder.normal(pod, 'Created', `Created pod web-${n}`);
      await settle();
    }
    expect(notes().slice(8)).toEqual([
      ['create', 'events.k8s.io/v1', 'Created pod web-9'],
      ['create', 'events.k8s.io/v1', `${combined}10`],
      ['patch', 'v1', `${combined}11`],
      ['patch', 'v1', `${combined}12`],
    ]);
    expect(calls.at(-1)).toMatchObject({ name: calls[9]?.name, body: { series: { count: 3 } } });
    // A note that has its own event goes on there.
    recorder.normal(pod, 'Created', 'Created pod web-3');
    await settle();
    expect(calls.at(-1)).toMatchObject({ name: calls[2]?.name, verb: 'patch', body: { series: { count: 2 } } });
  });

  it('are counted anew after ten quiet minutes', async () => {
    start();
    for (let n = 1; n <= 10; n++) recorder.normal(pod, 'Created', `Created pod web-${n}`);
    await broadcaster.flush();
    await clock.advance(10 * 60_000 + 1);
    recorder.normal(pod, 'Created', 'Created pod web-11');
    await broadcaster.flush();
    expect(notes().at(-1)).toEqual(['create', 'events.k8s.io/v1', 'Created pod web-11']);
  });

  it('that change in a flood are told as often as the spam filter lets them, and the last one at the end', async () => {
    start();
    for (let n = 1; n <= 1000; n++) {
      recorder.normal(pod, 'Created', `Created pod web-${n}`);
      await settle();
    }
    expect(calls).toHaveLength(25);
    stop.abort();
    await running;
    expect(calls).toHaveLength(26);
    expect(calls.at(-1)?.body).toMatchObject({ message: `${combined}1000`, series: { count: 991 } });
    expect(dropped).toEqual([]);
  });

  it('keep the first one where a role does not allow core/v1', async () => {
    start();
    respond = ({ apiVersion, verb }) => {
      if (apiVersion === 'v1' && verb === 'patch') throw statusError(403, 'Forbidden');
    };
    for (let n = 1; n <= 12; n++) {
      recorder.normal(pod, 'Created', `Created pod web-${n}`);
      await settle();
    }
    expect(notes().slice(9)).toEqual([
      ['create', 'events.k8s.io/v1', `${combined}10`],
      ['patch', 'v1', `${combined}11`],
      ['patch', 'events.k8s.io/v1', undefined],
      ['patch', 'events.k8s.io/v1', undefined],
    ]);
    expect(dropped).toEqual([]);
  });

  it('that are combined and too long are cut, in core/v1 too', async () => {
    start({ api: 'v1' });
    for (let n = 1; n <= 11; n++) recorder.normal(pod, 'Created', `${'x'.repeat(1020)}${n}`);
    await broadcaster.flush();
    const message = String(calls.at(-1)?.body['message']);
    expect([message.startsWith('(combined from similar events): xx'), message.endsWith('...'), message.length]).toEqual(
      [true, true, 1024],
    );
  });
});

describe('delivery', () => {
  it('is repeated for failures that may pass, up to 12 times, 10 s apart', async () => {
    start();
    respond = () => {
      throw new Error('connection refused');
    };
    recorder.normal(pod, 'A', 'x');
    await settle();
    expect(clock.nextTimerInMs).toBe(11_250);
    for (let n = 0; n < 11; n++) await clock.advance(11_250);
    expect(calls).toHaveLength(12);
    expect(dropped).toEqual(['undeliverable']);
  });

  it.each([
    [403, 'Forbidden', 'refused'],
    [422, 'Invalid', 'refused'],
  ])('is not repeated for a %d', async (code, reason, result) => {
    start();
    respond = () => {
      throw statusError(code, reason);
    };
    recorder.normal(pod, 'A', 'x');
    await broadcaster.flush();
    expect(calls).toHaveLength(1);
    expect(dropped).toEqual([result]);
  });

  it('takes AlreadyExists for an attempt that got through', async () => {
    start();
    let n = 0;
    respond = ({ verb }) => {
      if (verb === 'create') throw ++n === 1 ? new Error('answer lost') : statusError(409, 'AlreadyExists');
    };
    recorder.normal(pod, 'A', 'x');
    await settle();
    await clock.advance(11_250);
    expect(calls.map(({ verb }) => verb)).toEqual(['create', 'create']);
    expect(dropped).toEqual([]);
  });

  it('is given up where the server says in turns that it is there and that it is not', async () => {
    start();
    respond = ({ verb }) => {
      throw verb === 'create' ? statusError(409, 'AlreadyExists') : statusError(404, 'NotFound');
    };
    recorder.normal(pod, 'Scaled', 'to 3');
    recorder.normal(pod, 'Scaled', 'to 3');
    while (dropped.length === 0 && calls.length < 100) await settle();
    expect(calls).toHaveLength(12);
    expect(dropped).toEqual(['refused']);
  });

  it('goes to core/v1 where the server has nothing else, and stays there', async () => {
    start();
    respond = ({ apiVersion }) => {
      if (apiVersion !== 'v1') throw Object.assign(new Error('no such kind'), { code: 'KCTL_NO_KIND_MATCH' });
    };
    recorder.warning(pod, 'A', 'x');
    await broadcaster.flush();
    recorder.warning(pod, 'A', 'x');
    await broadcaster.flush();
    recorder.warning(pod, 'B', 'x');
    await broadcaster.flush();
    expect(calls.map(({ apiVersion, verb }) => `${verb} ${apiVersion}`)).toEqual([
      'create events.k8s.io/v1',
      'create v1',
      'patch v1',
      'create v1',
    ]);
    expect(calls[1]?.body).toMatchObject({
      involvedObject: { kind: 'Pod', name: 'web-0' },
      message: 'x',
      source: { component: 'example.com/shop' },
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
    });
    expect(calls[2]?.body).toMatchObject({ count: 2, series: { count: 2 } });
  });

  it('never blocks: at most 8 at once, a bounded queue, the rest is dropped and counted', async () => {
    start({ queueLimit: 20, burst: 1000 });
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    respond = () => gate;
    for (let n = 0; n < 50; n++) recorder.normal(pod, `Reason${n}`, 'x');
    await settle();
    expect(calls).toHaveLength(8);
    expect(dropped).toEqual(Array.from({ length: 22 }, () => 'queue_full'));
    release();
    await broadcaster.flush();
    expect(calls).toHaveLength(28);
  });
});

describe('the spam filter', () => {
  it('lets 25 events about one object through, and one more in five minutes', async () => {
    start();
    for (let n = 0; n < 30; n++) recorder.normal(pod, `Reason${n}`, 'x');
    recorder.normal({ ...pod, metadata: { ...pod.metadata, name: 'web-1', uid: 'u2' } }, 'Other', 'x');
    await broadcaster.flush();
    expect(calls).toHaveLength(26);
    expect(dropped).toEqual(Array.from({ length: 5 }, () => 'spam'));
    await clock.advance(300_000);
    recorder.normal(pod, 'Later', 'x');
    recorder.normal(pod, 'Later2', 'x');
    await broadcaster.flush();
    expect(calls).toHaveLength(27);
  });
});

describe('stopping', () => {
  it('delivers what was recorded before, also what had not been patched yet, and then drops', async () => {
    start();
    for (let n = 0; n < 3; n++) {
      recorder.normal(pod, 'A', 'x');
      await settle();
    }
    recorder.normal(pod, 'B', 'x');
    stop.abort();
    await running;
    expect(calls.map(({ verb, body }) => [verb, (body['series'] as { count: number } | undefined)?.count])).toEqual([
      ['create', undefined],
      ['patch', 2],
      ['create', undefined],
      ['patch', 3],
    ]);
    recorder.normal(pod, 'C', 'x');
    expect(dropped).toEqual(['stopped']);
    await expect(broadcaster.run(stop.signal)).rejects.toThrow('it runs already, or has run');
  });

  it('does not wait for a server that does not answer longer than it was told', async () => {
    start({ flushTimeoutMs: 2000 });
    respond = () => new Promise((_resolve, reject) => void setImmediate(() => reject(new Error('refused'))));
    recorder.normal(pod, 'A', 'x');
    await settle();
    stop.abort();
    await running;
    expect(dropped).toEqual(['undeliverable']);
  });

  it('ends what waits for a flush, also where a client never answers', async () => {
    start();
    respond = () => new Promise(() => undefined);
    recorder.normal(pod, 'Scaled', 'to 3');
    const flushed = broadcaster.flush();
    stop.abort();
    await clock.advance(5_000);
    await running;
    await flushed;
    await broadcaster.flush();
  });

  it('does not wait for a client that never answers', async () => {
    start({ flushTimeoutMs: 2000 });
    respond = () => new Promise(() => undefined);
    recorder.normal(pod, 'A', 'x');
    await settle();
    stop.abort();
    await settle();
    await clock.advance(2000);
    await running;
    expect(dropped).toEqual(['undeliverable']);
  });

  it('counts all that was not delivered, what waited for its turn included', async () => {
    start({ flushTimeoutMs: 2000, maxConcurrentDeliveries: 1 });
    const refusals: ((error: Error) => void)[] = [];
    respond = () => new Promise((_resolve, reject) => void refusals.push(reject));
    for (const reason of ['A', 'B', 'C']) recorder.normal(pod, reason, 'x');
    await settle();
    stop.abort();
    await settle();
    await clock.advance(2000);
    await running;
    for (const refuse of refusals) refuse(new Error('refused'));
    await settle();
    expect(dropped).toEqual(['undeliverable', 'undeliverable', 'undeliverable']);
  });

  it('keeps what is recorded before the start', async () => {
    const early = createEventBroadcaster({ client, clock });
    early.recorder('a').normal(pod, 'Early', 'x');
    await settle();
    expect(calls).toHaveLength(0);
    running = early.run(stop.signal);
    await early.flush();
    expect(calls).toHaveLength(1);
  });
});

describe('options', () => {
  it.each([
    [{ queueLimit: 0 }, 'queueLimit 0 is not valid: expected an integer ≥ 1'],
    [{ maxConcurrentDeliveries: 0 }, 'maxConcurrentDeliveries 0 is not valid'],
    [{ burst: NaN }, 'burst NaN is not valid'],
    [{ refillMs: 0 }, 'refillMs 0 is not valid: expected a number of ms > 0'],
    [{ maxSeries: 1.5 }, 'maxSeries 1.5 is not valid'],
    [{ flushTimeoutMs: -1 }, 'flushTimeoutMs -1 is not valid'],
  ])('%o are refused when the broadcaster is made', (options, problem) => {
    const client = { create: () => Promise.reject(new Error()), patch: () => Promise.reject(new Error()) };
    expect(() => createEventBroadcaster({ client, ...options })).toThrow(`createEventBroadcaster: ${problem}`);
  });
});
