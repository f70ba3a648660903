import { getEventListeners } from 'node:events';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { Waiters } from './waiters.js';

function start(options: { readonly timeoutMs?: number } = {}) {
  const clock = new FakeClock();
  const waiters = new Waiters(clock);
  const abort = new AbortController();
  const { signal } = abort;
  const state = { isDone: false };
  const outcomes: string[] = [];
  const wait = waiters
    .wait(
      () => state.isDone,
      { signal, ...options },
      () => new Error('late'),
    )
    .then(
      () => void outcomes.push('done'),
      (error: unknown) => void outcomes.push(String(error)),
    );
  const left = (): number => getEventListeners(signal, 'abort').length + clock.pendingTimers;
  return { clock, waiters, abort, state, outcomes, wait, left };
}

describe('a wait', () => {
  it.each([
    [
      'when its condition holds',
      'done',
      ({ state, waiters }) => {
        waiters.check();
        state.isDone = true;
        waiters.check();
      },
    ],
    ['when it takes too long', 'Error: late', ({ clock }) => clock.advanceSync(10)],
    ['when its signal aborts', 'Error: enough', ({ abort }) => abort.abort(new Error('enough'))],
    ['when nothing will change any longer', 'Error: ended', ({ waiters }) => waiters.fail(() => new Error('ended'))],
  ] satisfies [string, string, (session: ReturnType<typeof start>) => void][])(
    'ends %s, once, and leaves neither a timer nor a listener',
    async (_when, outcome, end) => {
      const session = start({ timeoutMs: 10 });
      const other = session.waiters.wait(
        () => session.outcomes.length > 0,
        {},
        () => new Error('never'),
      );
      session.clock.advanceSync(9);
      expect([session.outcomes, session.left()]).toEqual([[], 2]);
      end(session);
      await session.wait;
      session.state.isDone = true;
      session.waiters.check();
      session.waiters.fail(() => new Error('ended'));
      expect([session.outcomes, session.left()]).toEqual([[outcome], 0]);
      await other.catch(() => undefined);
    },
  );

  it('has no limit unless one is given, and needs none if its condition holds', async () => {
    const session = start();
    session.clock.advanceSync(1e9);
    expect([session.outcomes, session.left()]).toEqual([[], 1]);
    const signal = AbortSignal.abort(new Error('enough'));
    await session.waiters.wait(
      () => true,
      { signal, timeoutMs: 1 },
      () => new Error('late'),
    );
    await expect(
      session.waiters.wait(
        () => false,
        { signal },
        () => new Error('late'),
      ),
    ).rejects.toThrow('enough');
    expect(session.left()).toBe(1);
    session.abort.abort(new Error('enough'));
    await session.wait;
    expect(session.outcomes).toEqual(['Error: enough']);
  });

  it.each([{ timeoutMs: Number.NaN }, { timeoutMs: '5' }, { timeout: 5 }, { signal: {} }])(
    'refuses %o rather than to wait for good',
    async (options) => {
      const waiters = new Waiters(new FakeClock());
      await expect(
        waiters.wait(
          () => false,
          options as never,
          () => new Error('late'),
        ),
      ).rejects.toThrow('cannot wait:');
    },
  );
});
