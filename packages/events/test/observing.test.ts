// What programs and tests see of events: onEvent, the debug line, annotations, the fake recorder.
import type { KubeObject } from '@kctl/apimachinery';
import type { Logger } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createEventBroadcaster, createFakeRecorder, eventsOf } from '../src/index.js';
import type { EventBroadcasterOptions, RecordedEvent } from '../src/index.js';

const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace: 'shop', uid: 'u1' } };
const regarding = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'u1' };

function recording(options: Partial<EventBroadcasterOptions> = {}): {
  readonly broadcaster: ReturnType<typeof createEventBroadcaster>;
  readonly created: KubeObject[];
  readonly lines: unknown[][];
} {
  const created: KubeObject[] = [];
  const lines: unknown[][] = [];
  const line = (level: string) => (message: string, fields?: object) => void lines.push([level, message, fields]);
  const logger: Logger = {
    isEnabled: () => true,
    trace: line('trace'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => logger,
  };
  const client = {
    create: async (_kind: unknown, object: KubeObject) => {
      created.push(object);
      return object;
    },
    patch: async () => ({}),
  } as unknown as EventBroadcasterOptions['client'];
  return {
    broadcaster: createEventBroadcaster({ client, logger, clock: new FakeClock(), ...options }),
    created,
    lines,
  };
}

describe('a broadcaster', () => {
  it('calls onEvent and writes a debug line for each event, repeated ones and those of the spam filter included', () => {
    const seen: RecordedEvent[] = [];
    const { broadcaster, lines } = recording({ burst: 1, onEvent: (event) => seen.push(event) });
    const recorder = broadcaster.recorder('example.com/shop', 'shop-1');
    recorder.normal(pod, 'Created', 'created it');
    recorder.normal(pod, 'Created', 'created it');
    recorder.warning(pod, 'Failed', 'no image');
    expect(seen.map(({ reason }) => reason)).toEqual(['Created', 'Created', 'Failed']);
    expect(seen[0]).toEqual({
      controller: 'example.com/shop',
      instance: 'shop-1',
      regarding,
      related: undefined,
      type: 'Normal',
      reason: 'Created',
      action: 'Created',
      note: 'created it',
      annotations: undefined,
    });
    expect(lines.filter(([level]) => level === 'debug').at(-1)).toEqual([
      'debug',
      'no image',
      { type: 'Warning', object: regarding, reason: 'Failed', action: 'Failed' },
    ]);
  });

  it('delivers where its logger and metrics fail, or are stubs', async () => {
    const boom = (): never => {
      throw new Error('the sink is broken');
    };
    for (const sinks of [
      { logger: { isEnabled: boom, debug: boom, warn: boom, error: boom }, metrics: { counter: boom } },
      { logger: { info: boom }, metrics: { onCollect: boom } },
    ]) {
      const { broadcaster, created } = recording(sinks as never);
      const stop = new AbortController();
      const done = broadcaster.run(stop.signal);
      broadcaster.recorder('c').normal(pod, 'Created', 'created it');
      await broadcaster.flush();
      expect(created).toHaveLength(1);
      stop.abort();
      await done;
    }
  });

  it('logs what onEvent throws or rejects with, and delivers all the same', async () => {
    let isAsync = false;
    const onEvent = (): unknown => {
      if (isAsync) return Promise.reject(new Error('late'));
      throw new Error('early');
    };
    const { broadcaster, created, lines } = recording({ onEvent: onEvent });
    const stop = new AbortController();
    const running = broadcaster.run(stop.signal);
    const recorder = broadcaster.recorder('shop');
    recorder.normal(pod, 'A', 'a');
    isAsync = true;
    recorder.normal(pod, 'B', 'b');
    stop.abort();
    await running;
    await settle();
    expect(created).toHaveLength(2);
    expect(lines.filter(([level]) => level === 'error')).toMatchObject([
      ['error', 'onEvent of the event broadcaster failed', { error: { message: 'early' } }],
      ['error', 'onEvent of the event broadcaster failed', { error: { message: 'late' } }],
    ]);
  });

  it('writes annotations', async () => {
    const { broadcaster, created } = recording();
    const stop = new AbortController();
    const running = broadcaster.run(stop.signal);
    const annotations = { 'example.com/run': '7' };
    broadcaster.recorder('shop').event(pod, { type: 'Normal', reason: 'A', note: 'a', annotations });
    annotations['example.com/run'] = 'changed';
    stop.abort();
    await running;
    expect(created[0]?.metadata.annotations).toEqual({ 'example.com/run': '7' });
  });

  it('refuses an onEvent that is not a function', () => {
    expect(() => recording({ onEvent: 'log' as never })).toThrow('onEvent is of type string: give a function');
  });
});

describe('createFakeRecorder', () => {
  it('keeps what is recorded', async () => {
    const recorder = createFakeRecorder();
    recorder.normal(pod, 'Created', 'created it');
    recorder.event(pod, { type: 'Warning', reason: 'Failed', action: 'Pulling', note: 'no image', related: pod });
    expect(recorder.lines).toEqual(['Normal Created created it', 'Warning Failed no image']);
    expect(recorder.events[1]).toMatchObject({ action: 'Pulling', regarding, related: regarding });
    expect((await recorder.next()).reason).toBe('Created');
    expect(recorder.events).toHaveLength(1);
    recorder.clear();
    expect(recorder.events).toEqual([]);
  });

  it('hands each event to one waiter, in order, and stops waiting with the signal', async () => {
    const recorder = createFakeRecorder();
    const abort = new AbortController();
    const taken = [recorder.next(), recorder.next(), recorder.next({ signal: abort.signal })];
    recorder.normal(pod, 'A', 'a');
    recorder.normal(pod, 'B', 'b');
    expect((await Promise.all(taken.slice(0, 2))).map(({ reason }) => reason)).toEqual(['A', 'B']);
    abort.abort(new Error('enough'));
    await expect(taken[2]).rejects.toThrow('enough');
  });

  it('keeps so many', () => {
    const recorder = createFakeRecorder({ capacity: 2 });
    for (const reason of ['A', 'B', 'C']) recorder.normal(pod, reason, '');
    expect(recorder.events.map(({ reason }) => reason)).toEqual(['B', 'C']);
    expect(() => createFakeRecorder({ capacity: 0 })).toThrow('capacity 0 is not valid');
  });

  it('throws at an event that a broadcaster would drop', () => {
    const recorder = createFakeRecorder();
    expect(() => recorder.normal({ metadata: { name: 'x' } }, 'A', 'a')).toThrow(
      'must be about an object with apiVersion',
    );
    expect(() => recorder.normal(pod, '', 'a')).toThrow('reason "" of an event is not valid');
  });

  it.each([
    [pod, { type: 'Normal', reason: 5, note: 'a' }, 'reason 5 of an event is not valid: expected 1 to 128 characters'],
    [pod, { type: 'Normal', note: 'a' }, 'reason undefined of an event is not valid'],
    [pod, { type: 'Normal', reason: 'A' }, 'note of an event is undefined: expected a string'],
    [
      pod,
      { type: 'Normal', reason: 'A', note: 'a', annotations: { b: 1 } },
      'annotation "b" of an event is 1: expected a string',
    ],
    [pod, { type: 'Normal', reason: 'A', note: 'a', annotations: 'b' }, 'annotations of an event are "b"'],
    [pod, undefined, 'the details of an event are undefined: expected { type, reason, note }'],
    [
      null,
      { type: 'Normal', reason: 'A', note: 'a' },
      'an event must be about an object or a reference to one, not null',
    ],
  ])('names what is wrong with an event about %j: %j', (subject, details, message) => {
    expect(() => createFakeRecorder().event(subject as never, details as never)).toThrow(message);
  });
});

describe('eventsOf', () => {
  const node = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u1' };
  const asked: unknown[] = [];
  const client = {
    list: async (_kind: unknown, options: { readonly fieldSelector: Record<string, string> }) => {
      asked.push(options);
      const uid = options.fieldSelector['involvedObject.uid'] ?? '';
      return {
        items: Object.freeze([
          { reason: uid, lastTimestamp: uid === 'u1' ? '2026-01-02T00:00:00Z' : undefined, metadata: {} },
        ]),
      };
    },
  } as unknown as Parameters<typeof eventsOf>[0];

  it('finds those of the kubelet, which takes the name of a node for its uid', async () => {
    expect((await eventsOf(client, node)).map(({ reason }) => reason)).toEqual(['node-1', 'u1']);
    expect(asked).toHaveLength(2);
    expect(asked).toMatchObject([{ namespace: 'default' }, { namespace: 'default' }]);
  });

  it('asks once for those of anything else', async () => {
    asked.length = 0;
    await eventsOf(client, pod);
    expect(asked).toHaveLength(1);
  });

  it.each([{ limit: 5 }, { signal: {} }, null])('refuses the options %o', async (options) => {
    await expect(eventsOf(client, pod, options as never)).rejects.toThrow(
      /eventsOf: (unknown option|signal is|expected)/,
    );
  });
});
