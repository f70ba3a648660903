// A watch that is resumed, and waiting for events of a stream: what ends each, and what each leaves behind.
import { StatusError } from '@kctl/apimachinery';
import type { PersistedObject } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createRetryWatcher, isWatchClosed, waitForEvent } from '../src/index.js';
import type { RetryWatcher, RetryWatcherOptions, Watcher, WatchEvent, WatchOptions } from '../src/index.js';

type Settings = PersistedObject<typeof ConfigMap>;
type Event = WatchEvent<Settings>;
const settings = (name: string, resourceVersion: string): Settings => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'a', name, uid: `u-${name}`, resourceVersion },
});
const added = (name: string, version: string): Event => ({ type: 'ADDED', object: settings(name, version) });
const bookmark = (resourceVersion: string): Event => ({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: false });
const failure = (code: number, reason: string, retryAfterSeconds?: number): Event => ({
  type: 'ERROR',
  status: { code, reason, message: reason, ...(retryAfterSeconds && { details: { retryAfterSeconds } }) },
});
const refusal = (code: number, reason: string): StatusError => new StatusError({ code, reason, message: reason });
const fail = (message = 'cannot be left'): never => {
  throw new Error(message);
};
const hang = Symbol('a stream that is silent');
type Step = Event | Error | typeof hang;

/** Answers each watch with the next script: its events, then its end. */
class Stage implements Watcher {
  readonly clock: FakeClock = new FakeClock();
  readonly calls: WatchOptions[] = [];
  readonly restarts: unknown[] = [];
  /** How many streams are open. */
  open = 0;
  readonly #scripts: (readonly Step[] | Error)[];

  constructor(...scripts: (readonly Step[] | Error)[]) {
    this.#scripts = scripts;
  }

  watch = async (_kind: unknown, options: WatchOptions = {}): Promise<never> => {
    this.calls.push(options);
    const script = this.#scripts.shift() ?? [hang];
    if (script instanceof Error) throw script;
    this.open++;
    const events = play(script, options.signal);
    return {
      [Symbol.asyncIterator]: () => events,
      [Symbol.asyncDispose]: async () => {
        this.open--;
        await events.return(undefined);
      },
    } as never;
  };

  retry(options: Partial<RetryWatcherOptions> = {}): RetryWatcher<Settings> {
    const onRestart = (error: unknown): void => void this.restarts.push(error instanceof Error ? error.message : error);
    return createRetryWatcher(this, ConfigMap, { resourceVersion: '5', clock: this.clock, onRestart, ...options });
  }
}

async function* play(script: readonly Step[], signal?: AbortSignal): AsyncGenerator<Event, void> {
  for (const step of script) {
    if (step instanceof Error) throw step;
    if (step !== hang) yield step;
    else await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
  }
}

/** Reads a stream into a list, in the background. */
function collect(events: AsyncIterable<Event>): { seen: string[]; ended: Promise<unknown> } {
  const seen: string[] = [];
  const read = async (): Promise<string> => {
    for await (const event of events)
      seen.push(event.type === 'ERROR' ? `ERROR ${event.status.reason}` : shownEvent(event));
    return 'ended';
  };
  return { seen, ended: read().catch((error: unknown) => error) };
}
const shownEvent = (event: Event): string =>
  'object' in event
    ? `${event.type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}`
    : event.type;

describe('createRetryWatcher', () => {
  it('resumes after the last event or bookmark: whether the server ends the watch, breaks it or fails', async () => {
    const stage = new Stage(
      [added('a', '6'), bookmark('9')],
      [added('b', '10'), new Error('reset')],
      new Error('refused'),
      refusal(503, 'ServiceUnavailable'),
      [added('c', '11'), failure(500, 'InternalError')],
      [hang],
    );
    const { seen } = collect(stage.retry({ namespace: 'a', labelSelector: 'x=y', fieldSelector: 'metadata.name=a' }));
    await settle();
    for (let second = 0; second < 5; second++) await stage.clock.advance(1000);
    expect(seen).toEqual(['ADDED a@6', 'ADDED b@10', 'ADDED c@11']);
    expect(stage.calls.map(({ resourceVersion }) => resourceVersion)).toEqual(['5', '9', '10', '10', '10', '11']);
    expect(stage.calls[5]).toMatchObject({
      namespace: 'a',
      labelSelector: 'x=y',
      fieldSelector: 'metadata.name=a',
      allowWatchBookmarks: true,
    });
    expect(stage.restarts).toEqual([undefined, 'reset', 'refused', 'ServiceUnavailable', 'InternalError']);
    expect(stage.open).toBe(1);
  });

  it('watches all namespaces without selectors unless there are some', async () => {
    const stage = new Stage([hang]);
    void collect(stage.retry());
    await settle();
    expect(Object.keys(stage.calls[0] ?? {}).toSorted()).toEqual([
      'allowWatchBookmarks',
      'resourceVersion',
      'signal',
      'timeoutSeconds',
    ]);
  });

  it.each([
    ['an expired version in the stream', [failure(410, 'Expired')], 'ERROR Expired'],
    ['an expired version in place of the stream', refusal(410, 'Expired'), 'ERROR Expired'],
    ['a user who may not watch', refusal(403, 'Forbidden'), 'ERROR Forbidden'],
    ['a user who is not known', refusal(401, 'Unauthorized'), 'ERROR Unauthorized'],
    ['an event without a version', [added('a', '')], 'ERROR InternalError'],
  ])('ends with an ERROR event by %s', async (_, script, last) => {
    const stage = new Stage(script);
    const { seen, ended } = collect(stage.retry());
    await settle();
    expect([await ended, seen, stage.open]).toEqual(['ended', [last], 0]);
  });

  it('starts no two watches within the delay, and waits for as long as the server says', async () => {
    const stage = new Stage([], [failure(429, 'TooManyRequests', 7)], [hang]);
    void collect(stage.retry({ minRestartDelayMs: 2000 }));
    await settle();
    await stage.clock.advance(1999);
    expect(stage.calls).toHaveLength(1);
    await stage.clock.advance(1);
    expect(stage.calls).toHaveLength(2);
    await stage.clock.advance(6999);
    expect(stage.calls).toHaveLength(2);
    await stage.clock.advance(1);
    expect(stage.calls).toHaveLength(3);
  });

  it('waits for no longer than 5 minutes, whatever the server says', async () => {
    const stage = new Stage([failure(429, 'TooManyRequests', 1e9)], [hang]);
    void collect(stage.retry());
    await settle();
    await stage.clock.advance(299_999);
    expect(stage.calls).toHaveLength(1);
    await stage.clock.advance(1);
    expect(stage.calls).toHaveLength(2);
  });

  it('gives up a connection that is silent beyond the time that was asked for', async () => {
    const stage = new Stage([added('a', '6'), hang], [added('b', '7'), hang]);
    const { seen } = collect(stage.retry({ timeoutSeconds: 60 }));
    await settle();
    await stage.clock.advance(69_999);
    expect(stage.calls).toHaveLength(1);
    await stage.clock.advance(1);
    await settle();
    expect([seen, stage.open]).toEqual([['ADDED a@6', 'ADDED b@7'], 1]);
  });

  it('ends by its signal, by being disposed of and by leaving the loop, with nothing left open', async () => {
    const stop = new AbortController();
    const stages = [new Stage([added('a', '6'), hang]), new Stage([added('a', '6'), hang]), new Stage([hang])];
    const [aborted, disposed, left] = stages.map((stage) => stage.retry({ signal: stop.signal }));
    if (!aborted || !disposed || !left) throw new Error('unreachable');
    const readers = [collect(aborted), collect(disposed)];
    const iterator = left[Symbol.asyncIterator]();
    const pending = iterator.next();
    await settle();
    await disposed[Symbol.asyncDispose]();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    stop.abort();
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual(['ended', 'ended']);
    expect(stages.map(({ open }) => open)).toEqual([0, 0, 0]);
    expect(stages.map(({ clock }) => clock.pendingTimers)).toEqual([0, 0, 0]);
  });

  it.each<[string, (stop: AbortController) => Promise<never>]>([
    ['is silent', () => new Promise(() => undefined)],
    [
      'breaks with it',
      (stop) => {
        stop.abort();
        throw new TypeError('terminated');
      },
    ],
  ])('ends by its signal, whatever the reason, while the opening of a watch %s', async (_how, opening) => {
    const stop = new AbortController();
    const watcher: Watcher = { watch: () => opening(stop) };
    const events = createRetryWatcher(watcher, ConfigMap, { resourceVersion: '5', signal: stop.signal });
    const { seen, ended } = collect(events);
    await settle();
    stop.abort(new TypeError('the program ends'));
    expect([seen, await ended]).toEqual([[], 'ended']);
  });

  it.each<[string, object]>([
    ['throws', { [Symbol.asyncDispose]: () => fail() }],
    ['rejects', { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot be left')) }],
    ['is not there', {}],
  ])('goes on after a stream whose disposal %s', async (_how, disposal) => {
    const stage = new Stage();
    const versions = ['6', '7'];
    stage.watch = async (_kind, options) => {
      const version = versions.shift();
      const events = play([version === undefined ? hang : added('a', version)], options?.signal);
      return { [Symbol.asyncIterator]: () => events, ...disposal } as never;
    };
    const { seen } = collect(stage.retry());
    for (let restart = 0; restart < 2; restart++) {
      await settle();
      await stage.clock.advance(1000);
    }
    expect(seen).toEqual(['ADDED a@6', 'ADDED a@7']);
  });

  it('does nothing before it is read, and refuses what cannot be resumed or is a mistake', async () => {
    const stage = new Stage();
    stage.retry();
    await settle();
    expect(stage.calls).toEqual([]);
    for (const resourceVersion of ['', '0', 5 as never])
      expect(() => stage.retry({ resourceVersion })).toThrow('resourceVersion');
    for (const timeoutSeconds of [0, 1.5])
      expect(() => stage.retry({ timeoutSeconds })).toThrow(`timeoutSeconds ${timeoutSeconds} is not valid`);
    for (const selector of [{ labelSelector: 'a in' }, { fieldSelector: 'a' }])
      expect(() => stage.retry(selector)).toThrow(/elector/);
    expect(() => stage.retry({ resource: '1' } as never)).toThrow('unknown option "resource"');
    const mistaken = new Stage(new TypeError('labelSelector is not valid'));
    expect(String(await collect(mistaken.retry()).ended)).toContain('labelSelector is not valid');
  });
});

describe('waitForEvent', () => {
  const isNamed =
    (name: string) =>
    (event: Event): boolean =>
      'object' in event && event.object.metadata.name === name;

  it('returns the event of which the last condition holds; one event meets one condition', async () => {
    const stage = new Stage([added('a', '6'), added('b', '7'), added('a', '8'), hang]);
    const found = await waitForEvent(stage.retry(), [isNamed('a'), isNamed('a')]);
    expect(shownEvent(found)).toBe('ADDED a@8');
    await settle();
    expect(stage.open).toBe(0);
  });

  it('says that the stream ended, and why', async () => {
    const stage = new Stage([added('a', '6'), failure(410, 'Expired')]);
    const ended: unknown = await waitForEvent(stage.retry(), [isNamed('a'), isNamed('b')]).catch(
      (error: unknown) => error,
    );
    expect(isWatchClosed(ended)).toBe(true);
    expect(ended).toMatchObject({ message: expect.stringContaining('1 of 2 conditions held') as string });
    expect(ended).toHaveProperty('cause.reason', 'Expired');
  });

  it('ends in time, by its signal and by what a condition throws, and leaves the stream each time', async () => {
    const stages = [new Stage(), new Stage(), new Stage([added('a', '6'), hang])];
    const [late, aborted, broken] = stages.map((stage) => stage.retry());
    if (!late || !aborted || !broken) throw new Error('unreachable');
    const clock = new FakeClock();
    const stop = new AbortController();
    const waits = [
      waitForEvent(late, isNamed('x'), { timeoutMs: 1000, clock }),
      waitForEvent(aborted, isNamed('x'), { signal: stop.signal }),
      waitForEvent(broken, () => Promise.reject(new Error('broken condition'))),
    ].map((wait) => wait.catch((error: unknown) => String(error)));
    await settle();
    stop.abort(new Error('enough'));
    await clock.advance(1000);
    expect(await Promise.all(waits)).toEqual([
      expect.stringContaining('no such event within 1000 ms'),
      'Error: enough',
      'Error: broken condition',
    ]);
    await settle();
    expect(stages.map(({ open }) => open)).toEqual([0, 0, 0]);
  });

  it('disposes of a stream that can be disposed of, and takes one that cannot', async () => {
    const next = async () => ({ done: false, value: added('a', '6') });
    const plain = { [Symbol.asyncIterator]: () => ({ next }) } as AsyncIterable<Event>;
    let disposals = 0;
    const disposable = Object.assign({ [Symbol.asyncDispose]: async () => void disposals++ }, plain);
    for (const events of [plain, disposable]) expect(await waitForEvent(events, isNamed('a'))).toMatchObject({});
    expect(disposals).toBe(1);
  });

  it('neither leaves nor disposes of a stream that has ended', async () => {
    const calls: string[] = [];
    const iterator = {
      next: async () => ({ done: true, value: undefined }),
      return: async () => void calls.push('return'),
    };
    const events = {
      [Symbol.asyncIterator]: () => iterator,
      [Symbol.asyncDispose]: async () => void calls.push('dispose'),
    } as never;
    const ended: unknown = await waitForEvent(events, () => true).catch((error: unknown) => error);
    expect([isWatchClosed(ended), calls]).toEqual([true, []]);
  });

  it.each<[string, () => unknown]>([
    ['throw', () => fail()],
    ['reject', () => Promise.reject(new Error('cannot be left'))],
    ['return nothing', () => undefined],
  ])('returns the event of a stream whose return and disposal %s', async (_what, leave) => {
    const iterator = { next: async () => ({ done: false, value: added('a', '6') }), return: leave };
    const events = { [Symbol.asyncIterator]: () => iterator, [Symbol.asyncDispose]: leave } as never;
    expect(await waitForEvent<Event>(events, isNamed('a'))).toEqual(added('a', '6'));
    await expect(waitForEvent<Event>(events, () => fail('broken condition'))).rejects.toThrow('broken condition');
  });

  it.each([
    [{ type: 'ERROR' }],
    [{ type: 'ERROR', status: null }],
    [{ type: 'ERROR', status: 'odd' }],
    [{ type: 'MODIFIED', status: { reason: 'of the object' } }],
    [null],
    [5],
  ])('takes %j for an event without a cause', async (event) => {
    const events = (async function* () {
      yield event;
    })();
    const ended: unknown = await waitForEvent(events, () => false).catch((error: unknown) => error);
    expect([isWatchClosed(ended), (ended as Error).cause]).toEqual([true, undefined]);
    expect(String(ended)).toMatch(/the event that was waited for$/);
  });

  it('refuses arguments that are not valid', async () => {
    const { retry } = { retry: new Stage().retry() };
    await expect(waitForEvent([] as never, isNamed('x'))).rejects.toThrow('events is not a stream');
    await expect(waitForEvent(retry, [])).rejects.toThrow('until is not valid');
    await expect(waitForEvent(retry, isNamed('x'), { timeoutMs: Number.NaN })).rejects.toThrow('timeoutMs NaN');
  });
});
