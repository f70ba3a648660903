import { getEventListeners } from 'node:events';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { GuardedReader } from './guarded-reader.js';

function open({ idleMs = 100, aborted = false } = {}): {
  readonly clock: FakeClock;
  readonly outer: AbortController;
  readonly reader: GuardedReader;
} {
  const clock = new FakeClock();
  const outer = new AbortController();
  if (aborted) outer.abort(new Error('stopped before'));
  return { clock, outer, reader: new GuardedReader({ clock, signal: outer.signal, idleMs, what: 'the list' }) };
}

/** What a wait ends with, as soon as it has ended. */
function outcomeOf(waiting: Promise<unknown>): { value: string } {
  const outcome = { value: 'waiting' };
  waiting.then(
    (value) => (outcome.value = String(value)),
    (error: unknown) => (outcome.value = String(error)),
  );
  return outcome;
}

const never = (): Promise<never> => new Promise(() => undefined);
const silent = (ms: number): string =>
  `IdleWatchError: the list was silent for ${ms} ms: the connection is taken for dead`;

/** A stream that notes its end; `leaves`: whether its iterator can be left. */
function createStream(leaves = true): AsyncIterable<string> & AsyncDisposable & { readonly ends: string[] } {
  const ends: string[] = [];
  return {
    ends,
    [Symbol.asyncIterator]: () => ({
      next: never,
      ...(leaves && { return: () => Promise.resolve({ done: true as const, value: void ends.push('left') }) }),
    }),
    [Symbol.asyncDispose]: () => Promise.resolve(void ends.push('released')),
  };
}

describe('GuardedReader', () => {
  it('ends a wait after the silence, counted from the last answer', async () => {
    const { clock, reader } = open();
    await clock.advance(60);
    expect(await reader.wait(Promise.resolve('first'))).toBe('first');
    const outcome = outcomeOf(reader.wait(never()));
    await clock.advance(99);
    expect([outcome.value, reader.signal.aborted, clock.pendingTimers]).toEqual(['waiting', false, 1]);
    await clock.advance(1);
    expect([outcome.value, String(reader.signal.reason), clock.pendingTimers]).toEqual([silent(100), silent(100), 0]);
  });

  it.each([
    ['shorter', 70, 70],
    ['longer', 300, 300],
    ['the same', 100, 100],
    ['over already', 20, 50],
  ])('takes a silence that is %s from then on', async (_what, idleMs, endsAt) => {
    const { clock, reader } = open();
    const outcome = outcomeOf(reader.wait(never()));
    await clock.advance(50);
    reader.idleMs = idleMs;
    expect(clock.pendingTimers).toBe(1);
    if (endsAt > 50) await clock.advance(endsAt - 51);
    if (endsAt > 50) expect(outcome.value).toBe('waiting');
    await clock.advance(endsAt > 50 ? 1 : 0);
    expect(outcome.value).toBe(silent(endsAt));
  });

  it('ends by its signal, once and for all waits, and ignores how abandoned answers fail', async () => {
    const { clock, outer, reader } = open();
    const outcome = outcomeOf(reader.wait(never()));
    outer.abort(new Error('stopped'));
    await settle();
    expect([outcome.value, String(reader.signal.reason)]).toEqual(['Error: stopped', 'Error: stopped']);
    await clock.advance(1_000);
    await expect(reader.wait(Promise.reject(new Error('later')))).rejects.toThrow('stopped');
    await expect(reader.wait(Promise.resolve('later'))).rejects.toThrow('stopped');
    expect(String(reader.signal.reason)).toBe('Error: stopped');
  });

  it('has ended if its signal has aborted before', async () => {
    const { reader } = open({ aborted: true });
    expect(reader.signal.aborted).toBe(true);
    await expect(reader.wait(never())).rejects.toThrow('stopped before');
  });

  it.each([true, false])('leaves nothing behind when it is closed (iterator that can be left: %s)', async (leaves) => {
    const { clock, outer, reader } = open();
    const stream = createStream(leaves);
    reader.iterate(await reader.open(Promise.resolve(stream)));
    expect(getEventListeners(outer.signal, 'abort')).toHaveLength(1);
    reader.close();
    reader.close();
    await settle();
    expect(stream.ends).toEqual(leaves ? ['left', 'released'] : ['released']);
    expect([clock.pendingTimers, getEventListeners(outer.signal, 'abort').length]).toEqual([0, 0]);
    expect(reader.signal.aborted).toBe(true);
  });

  it('releases a stream that arrives when it has been given up, and ignores one that fails', async () => {
    for (const fails of [false, true]) {
      const { outer, reader } = open();
      const stream = createStream();
      const opening = Promise.withResolvers<typeof stream>();
      const outcome = outcomeOf(reader.open(opening.promise));
      outer.abort(new Error('stopped'));
      await settle();
      expect(outcome.value).toBe('Error: stopped');
      if (fails) opening.reject(new Error('refused'));
      else opening.resolve(stream);
      await settle();
      expect(stream.ends).toEqual(fails ? [] : ['released']);
    }
  });
});
