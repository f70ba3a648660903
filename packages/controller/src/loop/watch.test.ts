import { FakeClock, settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createRecordingLogger } from '../../test/recording-logger.js';
import type { SourceContext } from '../source/source.js';
import { Watch } from './watch.js';

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
    controller: 'c',
    queue: { add: (request) => void added.push(request), left: (request) => void added.push(request) },
    signal: stop.signal,
    logger: createRecordingLogger(),
    clock: new FakeClock(),
    random: () => 0.5,
    syncTimeoutMs: 1_000,
    fail: () => undefined,
  });
  watch.synced.catch(() => undefined);
  await settle();
  given?.queue.add('a');
  expect([given?.signal.aborted, added]).toEqual([isBefore, isBefore ? [] : ['a']]);
  stop.abort(reason);
  given?.queue.add('b');
  given?.queue.left?.('b');
  expect([given?.signal.reason, added]).toEqual([reason, isBefore ? [] : ['a']]);
  await watch.stop();
});
