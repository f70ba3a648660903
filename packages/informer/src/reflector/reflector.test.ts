import { noopMetrics } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { Slicer } from '@kctl/wait/internal';
import { expect, it, vi } from 'vitest';
import { IdleWatchError } from '../errors.js';
import { classifyFailure } from './failure.js';
import { reflectorConfigOf } from './reflector-config.js';
import type { ReflectorIntake } from './reflector-intake.js';
import { createReflectorMetrics } from './reflector-metrics.js';
import { transition } from './reflector-machine.js';
import { initialMemory } from './reflector-state.js';
import { Reflector } from './reflector.js';

/** A reflector in slices that are over at once, which lists and watches one batch. */
async function start({ items = 0, frames = 0, abortsAt = Infinity }): Promise<{
  readonly log: readonly string[];
  readonly phase: string;
  readonly stop: () => Promise<void>;
}> {
  const clock = new FakeClock();
  const stopping = new AbortController();
  const log: string[] = [];
  const slicer = new Slicer(clock, 5);
  vi.spyOn(slicer, 'isOver', 'get').mockReturnValue(true);
  vi.spyOn(slicer, 'breathe').mockImplementation(() => {
    log.push('breathe');
    if (log.length >= abortsAt) stopping.abort();
    return Promise.resolve();
  });
  const batch = (count: number): readonly string[] => Array.from({ length: count }, (_, place) => String(place));
  const intake: ReflectorIntake<string> = {
    ...{ resourceVersion: '5', status: undefined, isIncomplete: false, replacementSize: 0 },
    takeRefused: () => 0,
    begin: () => undefined,
    abandon: () => undefined,
    listItem: (raw) => void log.push(raw),
    initialFrame: () => 'upsert',
    liveFrame: (raw) => {
      log.push(raw);
      return 'upsert';
    },
    commit: () => Promise.resolve(undefined),
  };
  async function* stream(count: number): AsyncGenerator<readonly string[]> {
    if (count > 0) yield batch(count);
  }
  const dispose = { [Symbol.asyncDispose]: () => Promise.resolve() };
  const reflector = new Reflector<string>({
    ...{ intake, slicer, clock, random: () => 0, name: 'things', bookmarks: true, listIdleMs: 1000 },
    ...{ minWatchTimeoutMs: 1000, idleTimeoutMs: undefined, isLeaving: () => false },
    config: reflectorConfigOf({ watchList: false }),
    metrics: createReflectorMetrics(noopMetrics, 'things'),
    watchErrorHandler: () => undefined,
    onStateChange: () => undefined,
    source: {
      list: () =>
        Promise.resolve({
          ...dispose,
          [Symbol.asyncIterator]: () => stream(items),
          end: () => Promise.resolve({ resourceVersion: '5', continueToken: '' }),
        }),
      watch: () =>
        Promise.resolve({
          ...dispose,
          async *[Symbol.asyncIterator]() {
            yield* stream(frames);
            await new Promise(() => undefined);
          },
        }),
    },
  });
  const run = reflector.run(stopping.signal);
  await settle();
  return {
    log,
    phase: reflector.state.phase,
    stop: async () => {
      stopping.abort();
      await run;
    },
  };
}

it.each([
  ['a list', 'items'],
  ['events', 'frames'],
])('yields before %s that arrived and after every 16 objects', async (_what, of) => {
  const { log, phase, stop } = await start({ [of]: 40 });
  const places = log.flatMap((entry, index) => (entry === 'breathe' ? [index] : []));
  expect([log.length, places, phase]).toEqual([43, [0, 17, 34], 'watching']);
  await stop();
});

it.each([
  [1, 1],
  [2, 18],
])('reads no event when it was stopped while it yielded (time %i)', async (_time, length) => {
  const { log, phase } = await start({ frames: 40, abortsAt: length });
  expect([log.length, phase]).toEqual([length, 'stopped']);
});

it.each(['open', 'stream'] as const)('opens a watch again that was silent (%s)', (where) => {
  const memory = { ...initialMemory, resourceVersion: '5' };
  const failure = classifyFailure(new IdleWatchError('the watch', 1_000));
  const input = { type: 'watch-failed', where, failure, openMs: 1_000, resourceVersion: '5', now: 1_000 } as const;
  const waiting = transition({ phase: 'watching', memory }, input, reflectorConfigOf({}));
  expect(waiting.state).toMatchObject({ phase: 'waiting', next: 'watch' });
  const watching = transition(waiting.state, { type: 'timer' }, reflectorConfigOf({}));
  expect(watching.effects).toEqual([{ type: 'watch', initial: false, resourceVersion: '5' }]);
});

it.each([
  [true, [{ type: 'begin' }, { type: 'watch', initial: true, resourceVersion: '5' }]],
  [false, [{ type: 'begin' }, { type: 'list', resourceVersion: '5', limit: 0, continueToken: '' }]],
])(
  'does nothing else than to begin and to request when it syncs after a pause (streaming: %s)',
  (watchList, effects) => {
    const memory = { ...initialMemory, resourceVersion: '5' };
    const waiting = { phase: 'waiting', memory, next: 'sync', failure: classifyFailure(new Error('broken')) } as const;
    expect(transition(waiting, { type: 'timer' }, reflectorConfigOf({ watchList })).effects).toEqual(effects);
  },
);
