import { StatusError } from '@kctl/apimachinery';
import type { Status } from '@kctl/apimachinery';
import { FrameError } from '@kctl/apimachinery/internal/wire';
import { describe, expect, it } from 'vitest';
import type { Failure } from './failure.js';
import { classifyFailure } from './failure.js';
import { defaultReflectorConfig } from './reflector-config.js';
import { transition } from './reflector-machine.js';
import type { ReflectorEffect, ReflectorInput, ReflectorMemory, ReflectorState } from './reflector-state.js';
import { initialMemory } from './reflector-state.js';

// The rows of client-go's reflector (tools/cache/reflector.go, July 2026): which version is asked for, and what each failure does.

const status = (code: number, reason: string, more: Partial<Status> = {}): Failure =>
  classifyFailure(new StatusError({ kind: 'Status', status: 'Failure', code, reason, ...more }));
const expired = status(410, 'Expired');
const gone = status(410, 'Gone');
const tooLarge = status(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
const tooLargeOld = status(504, 'Timeout', { message: 'Too large resource version: 9, current: 5' });
const throttled = status(429, 'TooManyRequests', { details: { retryAfterSeconds: 7 } });
const internal = status(500, 'InternalError');
const refused = classifyFailure(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
const reset = classifyFailure(Object.assign(new Error('socket'), { code: 'ECONNRESET' }));
const decode = classifyFailure(new FrameError('cut'));

const list = { ...defaultReflectorConfig, watchList: false };
const stream = defaultReflectorConfig;
const memory = (more: Partial<ReflectorMemory> = {}): ReflectorMemory => ({ ...initialMemory, ...more });
const at5 = memory({ resourceVersion: '5' });
const idle: ReflectorState = { phase: 'idle', memory: initialMemory };
const watching: ReflectorState = { phase: 'watching', memory: at5 };
const streaming: ReflectorState = { phase: 'streaming', memory: at5 };

const listingAt = (resourceVersion: string, more: object = {}): ReflectorState => ({
  phase: 'listing',
  memory: memory({ resourceVersion: resourceVersion === '0' ? '' : resourceVersion }),
  step: { page: 1, resourceVersion, limit: 500, isFullList: false, ...more },
});
const watchFailed = (failure: Failure, where: 'open' | 'stream', more: object = {}): ReflectorInput => ({
  type: 'watch-failed',
  where,
  failure,
  openMs: 0,
  resourceVersion: '5',
  now: 0,
  ...more,
});
const ended = (more: Partial<Extract<ReflectorInput, { type: 'ended' }>> = {}): ReflectorInput => ({
  type: 'ended',
  cause: 'closed',
  openMs: 5,
  resourceVersion: '5',
  failure: reset,
  now: 0,
  ...more,
});
const find = <K extends ReflectorEffect['type']>(
  effects: readonly ReflectorEffect[],
  type: K,
): Extract<ReflectorEffect, { type: K }> | undefined =>
  effects.find((effect): effect is Extract<ReflectorEffect, { type: K }> => effect.type === type);

/** Goes through the backoff that a step asks for, and returns what is asked for then. */
function after(
  state: ReflectorState,
  input: ReflectorInput,
  config = list,
): { sleep: number; reported: boolean | undefined; then: readonly ReflectorEffect[] } {
  const step = transition(state, input, config);
  const sleep = find(step.effects, 'sleep');
  const reported = find(step.effects, 'trouble')?.report;
  const then = sleep === undefined ? step.effects : transition(step.state, { type: 'timer' }, config).effects;
  return { sleep: sleep === undefined ? 0 : Math.max(sleep.delayMs, sleep.atLeastMs), reported, then };
}

describe('which resourceVersion is asked for', () => {
  it('lists at "0" first', () => {
    expect(find(transition(idle, { type: 'start' }, list).effects, 'list')).toMatchObject({
      resourceVersion: '0',
      limit: 500,
    });
  });

  it('lists at the last synced version later, without a limit, so that the watch cache can answer', () => {
    const waiting: ReflectorState = { phase: 'waiting', memory: at5, next: 'sync', failure: reset };
    expect(find(transition(waiting, { type: 'timer' }, list).effects, 'list')).toMatchObject({
      resourceVersion: '5',
      limit: 0,
    });
  });

  it.each([
    ['expired', expired],
    ['gone', gone],
    ['too large', tooLarge],
    ['too large, as older servers say it', tooLargeOld],
  ])(
    'lists at "" at once after a list that was %s, and remembers no longer than until it succeeds',
    (_name, failure) => {
      const step = transition(listingAt('5'), { type: 'list-failed', failure, now: 0 }, list);
      expect(find(step.effects, 'list')).toMatchObject({ resourceVersion: '', limit: 500 });
      expect(step.state.memory.isUnavailable).toBe(true);
      const synced = transition(step.state, { type: 'page', resourceVersion: '9', continueToken: '' }, list);
      expect(synced.state.memory).toMatchObject({ isUnavailable: false, resourceVersion: '9' });
    },
  );

  it('does not ask for "" again and again: the second refusal backs off', () => {
    const failing = listingAt('', {});
    expect(after(failing, { type: 'list-failed', failure: expired, now: 0 }).sleep).toBe(800);
  });

  it('streams at "" first, and at the last version after a sync', () => {
    expect(find(transition(idle, { type: 'start' }, stream).effects, 'watch')).toEqual({
      type: 'watch',
      initial: true,
      resourceVersion: '',
    });
    const waiting: ReflectorState = { phase: 'waiting', memory: at5, next: 'sync', failure: reset };
    expect(find(transition(waiting, { type: 'timer' }, stream).effects, 'watch')).toMatchObject({
      initial: true,
      resourceVersion: '5',
    });
  });

  it.each([
    ['expired', expired],
    ['too large', tooLarge],
  ])('streams at "" at once after a stream that was %s', (_name, failure) => {
    const step = transition(streaming, watchFailed(failure, 'open'), stream);
    expect(find(step.effects, 'watch')).toMatchObject({ initial: true, resourceVersion: '' });
    expect(find(step.effects, 'sleep')).toBeUndefined();
  });

  it('watches at the version of the list', () => {
    const step = transition(listingAt('0'), { type: 'page', resourceVersion: '7', continueToken: '' }, list);
    expect(step.effects).toEqual([
      { type: 'commit', resourceVersion: '7' },
      { type: 'watch', initial: false, resourceVersion: '7' },
    ]);
  });
});

describe('pages', () => {
  it('goes on with the token alone, and keeps the version of the first page', () => {
    const second = transition(listingAt('0'), { type: 'page', resourceVersion: '7', continueToken: 't' }, list);
    expect(second.effects).toEqual([{ type: 'list', resourceVersion: '', limit: 500, continueToken: 't' }]);
    const done = transition(second.state, { type: 'page', resourceVersion: '8', continueToken: '' }, list);
    expect(find(done.effects, 'commit')).toMatchObject({ resourceVersion: '7' });
  });

  it('pages for ever when the first list came in pages although any version would do', () => {
    const second = transition(listingAt('0'), { type: 'page', resourceVersion: '7', continueToken: 't' }, list);
    const done = transition(second.state, { type: 'page', resourceVersion: '7', continueToken: '' }, list);
    const relist = after(done.state, watchFailed(internal, 'open', { resourceVersion: '7' }));
    expect(find(relist.then, 'list')).toMatchObject({ resourceVersion: '7', limit: 500 });
  });

  it('lists whole, at the original version, when a continue token has expired', () => {
    const second = transition(listingAt('5'), { type: 'page', resourceVersion: '7', continueToken: 't' }, list);
    const whole = transition(second.state, { type: 'list-failed', failure: expired, now: 0 }, list);
    expect(whole.effects).toEqual([
      { type: 'begin' },
      { type: 'list', resourceVersion: '5', limit: 0, continueToken: '' },
    ]);
  });

  it('lets an explicit page size win', () => {
    const waiting: ReflectorState = { phase: 'waiting', memory: at5, next: 'sync', failure: reset };
    const step = transition(waiting, { type: 'timer' }, { ...list, pageSize: 20 });
    expect(find(step.effects, 'list')).toMatchObject({ limit: 20 });
  });
});

describe('what each failure does', () => {
  it('open, connection refused: backs off, reopens at the last version, tells nobody', () => {
    const result = after(watching, watchFailed(refused, 'open'));
    expect(result).toMatchObject({ sleep: 800, reported: false });
    expect(result.then).toEqual([{ type: 'watch', initial: false, resourceVersion: '5' }]);
  });

  it('open, 429: waits at least as long as Retry-After says, reopens, tells nobody', () => {
    const result = after(watching, watchFailed(throttled, 'open'));
    expect(result).toMatchObject({ sleep: 7000, reported: false });
    expect(result.then).toEqual([{ type: 'watch', initial: false, resourceVersion: '5' }]);
  });

  it.each([301, 1e9, Number.MAX_VALUE])('open, 429: does not believe a Retry-After of %d s', (retryAfterSeconds) => {
    const error = status(429, 'TooManyRequests', { details: { retryAfterSeconds } });
    expect(after(watching, watchFailed(error, 'open'))).toMatchObject({ sleep: 300_000 });
  });

  it.each([
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [500, 'InternalError'],
    [410, 'Expired'],
  ])('open, %i: tells the handler, backs off, relists at the last version', (code, reason) => {
    const result = after(watching, watchFailed(status(code, reason), 'open'));
    expect(result).toMatchObject({ sleep: 800, reported: true });
    expect(find(result.then, 'list')).toMatchObject({ resourceVersion: '5' });
  });

  it('open, no answer (differs from client-go): tells the handler, backs off, reopens without a relist', () => {
    const result = after(watching, watchFailed(reset, 'open'));
    expect(result).toMatchObject({ sleep: 800, reported: true });
    expect(result.then).toEqual([{ type: 'watch', initial: false, resourceVersion: '5' }]);
  });

  it('in-stream 410 (differs: the handler hears of it): backs off, relists at the last version, not at ""', () => {
    const result = after(watching, watchFailed(expired, 'stream'));
    expect(result).toMatchObject({ sleep: 800, reported: true });
    expect(find(result.then, 'list')).toMatchObject({ resourceVersion: '5' });
  });

  it('in-stream 429: backs off, reopens, tells nobody', () => {
    const result = after(watching, watchFailed(throttled, 'stream'));
    expect(result.reported).toBe(false);
    expect(result.then).toEqual([{ type: 'watch', initial: false, resourceVersion: '5' }]);
  });

  it('in-stream InternalError: reopens at once within the deadline, relists after it', () => {
    const config = { ...list, maxInternalErrorRetryMs: 1000 };
    const first = transition(watching, watchFailed(internal, 'stream', { now: 10 }), config);
    expect(first.effects).toEqual([{ type: 'watch', initial: false, resourceVersion: '5' }]);
    const second = transition(first.state, watchFailed(internal, 'stream', { now: 900 }), config);
    expect(find(second.effects, 'watch')).toBeDefined();
    expect(
      find(after(second.state, watchFailed(internal, 'stream', { now: 1010 }), config).then, 'list'),
    ).toBeDefined();
    // By a clock that has run for long before.
    const late = transition(watching, watchFailed(internal, 'stream', { now: 5_000 }), config);
    expect(
      find(transition(late.state, watchFailed(internal, 'stream', { now: 5_900 }), config).effects, 'watch'),
    ).toBeDefined();
    expect(find(after(watching, watchFailed(internal, 'stream')).then, 'list')).toBeDefined();
  });

  it('in-stream, any other error: backs off, relists', () => {
    expect(find(after(watching, watchFailed(status(503, 'ServiceUnavailable'), 'stream')).then, 'list')).toBeDefined();
  });

  it.each([
    ['a new event', { resourceVersion: '8' }],
    ['a second', { openMs: 1000 }],
  ])('clean close after %s: reopens at once at the last version', (_name, more) => {
    const step = transition(watching, ended(more), list);
    const { resourceVersion } = { resourceVersion: '5', ...more };
    expect(step.effects).toEqual([{ type: 'watch', initial: false, resourceVersion }]);
  });

  it.each<[string, ReflectorInput]>([
    ['ends', ended({ openMs: 300_000 })],
    ['breaks', ended({ cause: 'broken' })],
    ['cannot be opened', watchFailed(reset, 'open')],
  ])(
    'a watch that %s after a list with items that could not be told apart: lists, as some may be gone',
    (_how, input) => {
      const page: ReflectorInput = { type: 'page', resourceVersion: '9', continueToken: '', isIncomplete: true };
      const listed = transition(listingAt('5'), page, list);
      expect(listed.effects.map(({ type }) => type)).toEqual(['commit', 'watch']);
      let step = transition(listed.state, input, list);
      if (step.state.phase === 'waiting') step = transition(step.state, { type: 'timer' }, list);
      expect(step.effects.map(({ type }) => type)).toEqual(['begin', 'list']);
      const whole = transition(step.state, { type: 'page', resourceVersion: '10', continueToken: '' }, list);
      expect(transition(whole.state, ended({ openMs: 300_000 }), list).effects.map(({ type }) => type)).toEqual([
        'watch',
      ]);
    },
  );

  it.each(['closed', 'broken'] as const)(
    'a watch that is %s again and again without anything new backs off ever longer, and tells (differs from client-go)',
    (cause) => {
      const delays: number[] = [];
      let state: ReflectorState = watching;
      for (let now = 0; delays.length < 3; now += 1000) {
        const step = transition(state, ended({ cause, now }), list);
        expect(find(step.effects, 'trouble')?.report).toBe(true);
        expect(step.state.memory.attempts).toBe(delays.length + 1);
        delays.push(find(step.effects, 'sleep')?.delayMs ?? 0);
        state = { phase: 'watching', memory: step.state.memory };
      }
      expect(delays).toEqual([800, 1600, 3200]);
    },
  );

  it('clean close within a second without an event: very short watch, tells, backs off, relists', () => {
    const result = after(watching, ended());
    expect(result).toMatchObject({ sleep: 800, reported: true });
    expect(find(result.then, 'list')).toBeDefined();
  });

  it('broken connection within a second: backs off, reopens', () => {
    expect(after(watching, ended({ cause: 'broken' })).then).toEqual([
      { type: 'watch', initial: false, resourceVersion: '5' },
    ]);
  });

  it('broken connections within a second, three in a row: backs off, lists, and counts anew (differs from client-go)', () => {
    const broken = ended({ cause: 'broken' });
    const asked: string[] = [];
    let state: ReflectorState = watching;
    for (let round = 0; round < 6; round++) {
      const step = transition(state, broken, list);
      expect(find(step.effects, 'sleep')).toBeDefined();
      const next = transition(step.state, { type: 'timer' }, list);
      asked.push(find(next.effects, 'list') === undefined ? 'watch' : 'list');
      const page: ReflectorInput = { type: 'page', resourceVersion: '5', continueToken: '' };
      state = next.state.phase === 'listing' ? transition(next.state, page, list).state : next.state;
    }
    expect(asked).toEqual(['watch', 'watch', 'list', 'watch', 'watch', 'list']);
  });

  it.each([
    ['that brings something', { resourceVersion: '6' }],
    ['that lasts', { openMs: 1000 }],
    ['that is silent', { cause: 'idle' as const, openMs: 300_000 }],
  ])('a watch %s ends the row of those that break', (_what, end) => {
    const brokenAt = (count: number): ReflectorState => ({
      phase: 'watching',
      memory: { ...at5, brokenWatches: count },
    });
    const whole = transition(brokenAt(2), ended({ cause: 'broken', ...end }), list);
    expect(whole.state.memory.brokenWatches).toBe(0);
    expect(transition(brokenAt(2), ended({ cause: 'broken' }), list).state).toMatchObject({ next: 'sync' });
  });

  it('silence: reopens at once at the last version', () => {
    expect(transition(watching, ended({ cause: 'idle' }), list).effects).toEqual([
      { type: 'watch', initial: false, resourceVersion: '5' },
    ]);
  });

  it('undecodable frame: reopens once, relists when it happens again without an event in between', () => {
    const first = transition(watching, watchFailed(decode, 'stream'), list);
    expect(first.state).toMatchObject({ phase: 'waiting', next: 'watch' });
    const reopened = transition(first.state, { type: 'timer' }, list);
    expect(transition(reopened.state, watchFailed(decode, 'stream'), list).state).toMatchObject({
      phase: 'waiting',
      next: 'sync',
    });
  });

  it('stop: closes and stays stopped', () => {
    const step = transition(watching, { type: 'stop' }, list);
    expect(step).toMatchObject({ state: { phase: 'stopped' }, effects: [{ type: 'close' }] });
    expect(transition(step.state, { type: 'timer' }, list).effects).toEqual([]);
  });
});

describe('streaming', () => {
  it('commits at the version of the end marker and goes on reading the same stream', () => {
    const step = transition(streaming, { type: 'initial-end', resourceVersion: '9' }, stream);
    expect(step.effects).toEqual([{ type: 'commit', resourceVersion: '9' }, { type: 'read' }]);
    expect(step.state).toMatchObject({ phase: 'watching', memory: { resourceVersion: '9' } });
  });

  it.each([
    ['refused connection', refused],
    ['429', throttled],
  ])('%s: backs off and streams again', (_name, failure) => {
    const result = after(streaming, watchFailed(failure, 'open'), stream);
    expect(result.sleep).toBeGreaterThan(0);
    expect(find(result.then, 'watch')).toMatchObject({ initial: true });
  });

  it('any other refusal: lists in the same attempt, and tries to stream the next time', () => {
    const step = transition(streaming, watchFailed(internal, 'open'), stream);
    expect(find(step.effects, 'list')).toBeDefined();
    expect(step.state.memory.isStreamingUnsupported).toBe(false);
  });

  it.each([400, 422])('%i: lists, and remembers that the server cannot stream', (code) => {
    const step = transition(streaming, watchFailed(status(code, 'Invalid'), 'open'), stream);
    expect(find(step.effects, 'list')).toBeDefined();
    expect(step.state.memory.isStreamingUnsupported).toBe(true);
  });

  it('closes without the end marker: backs off, and lists for good after the third', () => {
    let state: ReflectorState = streaming;
    for (const _attempt of [1, 2]) {
      const closed = transition(state, ended(), stream);
      expect(closed.state.phase).toBe('waiting');
      expect(find(closed.effects, 'trouble')?.report).toBe(true);
      state = transition(closed.state, { type: 'timer' }, stream).state;
      expect(state.phase).toBe('streaming');
    }
    const third = transition(state, ended(), stream);
    expect(third.effects.map(({ type }) => type)).toEqual(['trouble', 'streaming-unsupported', 'begin', 'list']);
    expect(third.state.memory.isStreamingUnsupported).toBe(true);
  });

  it.each<[string, ReflectorInput, { phase: string; next?: string; streamCloses: number }]>([
    ['breaks: counts as closed', watchFailed(reset, 'stream'), { phase: 'waiting', next: 'sync', streamCloses: 1 }],
    ['cannot be opened: lists', watchFailed(reset, 'open'), { phase: 'listing', streamCloses: 0 }],
    ['has an error of the server: lists', watchFailed(internal, 'stream'), { phase: 'listing', streamCloses: 0 }],
  ])('a stream that %s', (_how, input, { streamCloses, ...expected }) => {
    const { state, effects } = transition(streaming, input, stream);
    expect(state).toMatchObject({ ...expected, memory: { streamCloses, isStreamingUnsupported: false } });
    expect(find(effects, 'trouble')?.report).toBe(streamCloses === 1);
  });

  it('silence before the end marker: tells, lists at once, and streams again the next time', () => {
    const silent = transition(streaming, ended({ cause: 'idle', now: 60_000 }), stream);
    expect(silent.effects.map(({ type }) => type)).toEqual(['trouble', 'begin', 'list']);
    expect(find(silent.effects, 'trouble')?.report).toBe(true);
    expect(silent.state.memory).toMatchObject({ isStreamingUnsupported: false, attempts: 1, troubleSince: 60_000 });
    const listed = transition(silent.state, { type: 'page', resourceVersion: '9', continueToken: '' }, stream);
    const relist = after(listed.state, watchFailed(internal, 'open', { resourceVersion: '9' }), stream);
    expect(find(relist.then, 'watch')).toMatchObject({ initial: true, resourceVersion: '9' });
  });

  it('three silences in a row without an end marker between them: lists for good', () => {
    let state: ReflectorState = { phase: 'streaming', memory: at5 };
    for (const isUnsupported of [false, false, true]) {
      const step = transition(state, ended({ cause: 'idle' }), stream);
      expect(step.state.memory.isStreamingUnsupported).toBe(isUnsupported);
      state = { phase: 'streaming', memory: step.state.memory };
    }
    const begun = transition(streaming, ended({ cause: 'idle' }), stream);
    const worked = transition(
      { phase: 'streaming', memory: begun.state.memory },
      { type: 'initial-end', resourceVersion: '9' },
      stream,
    );
    expect(worked.state.memory).toMatchObject({ streamCloses: 0, attempts: 0 });
  });
});

describe('backoff', () => {
  it('doubles from 0.8 s to 30 s, and starts over only after two minutes without any', () => {
    const delays: number[] = [];
    let state: ReflectorState = watching;
    for (let now = 0; delays.length < 8; now += 1000) {
      const step = transition(state, watchFailed(refused, 'open', { now }), list);
      delays.push(find(step.effects, 'sleep')?.delayMs ?? 0);
      state = transition(step.state, { type: 'timer' }, list).state;
    }
    expect(delays).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    // client-go starts over two minutes after the last reset: in a long outage every other minute. Here it does not.
    const soon = transition(state, watchFailed(refused, 'open', { now: 7000 + 120_000 }), list);
    expect(find(soon.effects, 'sleep')?.delayMs).toBe(30_000);
    const later = transition(state, watchFailed(refused, 'open', { now: 7000 + 120_001 }), list);
    expect(find(later.effects, 'sleep')?.delayMs).toBe(800);
  });

  /** The delays after failures of a watch, one after another. */
  const delaysAfter = (failures: readonly Failure[]): number[] => {
    let state: ReflectorState = watching;
    return failures.map((failure, index) => {
      const step = transition(state, watchFailed(failure, 'open', { now: index * 1000 }), list);
      state = transition(step.state, { type: 'timer' }, list).state;
      if (state.phase === 'listing') state = { phase: 'watching', memory: state.memory };
      return find(step.effects, 'sleep')?.delayMs ?? 0;
    });
  };

  it.each([
    ['expired', expired],
    ['forbidden', status(403, 'Forbidden')],
    ['unauthorized', status(401, 'Unauthorized')],
  ])('starts over when the server answers after an outage: %s', (_name, answer) => {
    expect(delaysAfter([refused, reset, internal, refused, answer])).toEqual([800, 1600, 3200, 6400, 800]);
    expect(delaysAfter([refused, refused, refused, answer, answer, answer])).toEqual([
      800, 1600, 3200, 800, 1600, 3200,
    ]);
  });

  it('does not start over within an outage, nor for connections that break between other failures', () => {
    expect(delaysAfter([refused, refused, refused, reset, internal])).toEqual([800, 1600, 3200, 6400, 12_800]);
    expect(delaysAfter([refused, expired, refused, expired, refused, refused, expired])).toEqual([
      800, 1600, 3200, 6400, 12_800, 25_600, 30_000,
    ]);
  });
});
