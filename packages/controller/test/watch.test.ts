import { getEventListeners } from 'node:events';
import { FakeClock, settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createRecordingLogger } from './recording-logger.js';
import type { SourceContext } from '../src/source/source.js';
import { Watch } from '../src/loop/watch.js';

const environment = {
  controller: 'c',
  queue: { add: () => undefined },
  signal: new AbortController().signal,
  logger: createRecordingLogger(),
  clock: new FakeClock(),
  random: () => 0.5,
  syncTimeoutMs: 1_000,
  fail: () => undefined,
};

it('has a source hand over everything once more after the replay under way, for all calls meanwhile', async () => {
  const replays: PromiseWithResolvers<undefined>[] = [];
  const replay = async (): Promise<void> => {
    const one = Promise.withResolvers<undefined>();
    replays.push(one);
    await one.promise;
  };
  const watch = new Watch<string>({ name: 'x', start: async () => ({ replay, stop: () => undefined }) }, environment);
  watch.replay(); // before it has synced: then
  await watch.synced;
  expect(replays).toHaveLength(1);
  for (let call = 0; call < 3; call++) watch.replay();
  expect(replays).toHaveLength(1);
  replays[0]?.resolve(undefined);
  await settle();
  expect(replays).toHaveLength(2);
  replays[1]?.resolve(undefined);
  await settle();
  expect(replays).toHaveLength(2);
  await watch.stop();
  watch.replay();
  await settle();
  expect(replays).toHaveLength(2);
});

it('takes its listener from the session, and logs a replay that fails before', async () => {
  const stop = new AbortController();
  const logger = createRecordingLogger();
  const failures: PromiseWithResolvers<undefined>[] = [];
  const replay = async (): Promise<void> => {
    const one = Promise.withResolvers<undefined>();
    failures.push(one);
    await one.promise;
  };
  const source = { name: 'x', start: async () => ({ replay, stop: () => undefined }) };
  const watch = new Watch<string>(source, { ...environment, logger, signal: stop.signal });
  await watch.synced;
  watch.replay();
  failures[0]?.reject(new Error('first'));
  await settle();
  watch.replay();
  await watch.stop();
  failures[1]?.reject(new Error('second'));
  await settle();
  const failed = logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['error']));
  expect([failed, getEventListeners(stop.signal, 'abort')]).toEqual([['Error: first'], []]);
});

it('leaves a source failed that has failed before it has synced', async () => {
  const source = {
    name: 'x',
    start: async ({ fail, queue }: SourceContext<string>) => {
      queue.left?.('a'); // which the queue of the session has no use for
      fail(new Error('broken'));
      return { stop: () => undefined };
    },
  };
  const watch = new Watch<string>(source, environment);
  watch.synced.catch(() => undefined);
  await settle();
  expect([watch.phase, String(watch.error)]).toEqual(['failed', 'Error: broken']);
  await watch.stop();
});

it.each([true, false])('ends a source with its session, also one that has ended before: %s', async (isBefore) => {
  const stop = new AbortController();
  const reason = new Error('the session has ended');
  const added: unknown[] = [];
  let given: SourceContext<string> | undefined;
  if (isBefore) stop.abort(reason);
  const source = {
    name: 'x',
    start: async (context: SourceContext<string>) => {
      given = context;
      return { stop: () => undefined };
    },
  };
  const watch = new Watch<string>(source, {
    ...environment,
    queue: { add: (request) => void added.push(request), left: (request) => void added.push(request) },
    signal: stop.signal,
  });
  watch.synced.catch(() => undefined);
  await settle();
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(isBefore ? 0 : 1);
  given?.queue.add('a');
  expect([given?.signal.aborted, added]).toEqual([isBefore, isBefore ? [] : ['a']]);
  stop.abort(reason);
  given?.queue.add('b');
  given?.queue.left?.('b');
  expect([given?.signal.reason, added]).toEqual([reason, isBefore ? [] : ['a']]);
  await watch.stop();
});
