import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  isQueueArgumentError,
  type WorkQueue,
} from '../src/index.js';

const queues = {
  createWorkQueue,
  createDelayingQueue,
  createRateLimitingQueue,
  createPriorityQueue,
} as const satisfies Record<string, (options: { clock: FakeClock }) => WorkQueue<string>>;

/** A pool with one item in progress, whose work ends only when it is told to, or by `finish`. */
async function hanging(create: (options: { clock: FakeClock }) => WorkQueue<string>) {
  const clock = new FakeClock();
  const queue = create({ clock });
  const abort = new AbortController();
  let finish = (): void => undefined;
  const signals: AbortSignal[] = [];
  const pool = queue.run({ signal: abort.signal }, (_item, { signal }) => {
    signals.push(signal);
    return new Promise<void>((resolve, reject) => {
      finish = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  });
  queue.add('a');
  await settle();
  return { clock, queue, pool, abort, signals, finish: () => finish() };
}

describe.each(Object.entries(queues))('stop of a pool of %s', (_name, create) => {
  it('lets work in progress come to its end, however long that takes', async () => {
    const { clock, pool, signals, finish } = await hanging(create);
    const stopped = pool.stop();
    await clock.advance(3_600_000);
    expect([pool.active, signals[0]?.aborted]).toEqual([1, false]);
    finish();
    await stopped;
    expect(signals[0]?.aborted).toBe(false);
  });

  it('tells the work when its grace period is over, and puts its item back', async () => {
    const { clock, queue, pool, signals } = await hanging(create);
    const stopped = pool.stop({ graceMs: 1_000 });
    await clock.advance(999);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    await stopped;
    expect(signals[0]?.reason).toMatchObject({ name: 'AbortError', message: 'the grace period of the stop is over' });
    expect([queue.length, queue.processing, clock.pendingTimers]).toEqual([1, 0, 0]);
  });

  it('takes the shortest of several grace periods, and 0 for now', async () => {
    const { clock, pool, signals } = await hanging(create);
    void pool.stop();
    void pool.stop({ graceMs: 1_000 });
    void pool.stop({ graceMs: 5_000 });
    await clock.advance(500);
    void pool.stop({ graceMs: 100 });
    void pool.stop({ graceMs: 5_000 });
    await clock.advance(99);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    const now = await hanging(create);
    const stopped = now.pool.stop({ graceMs: 0 });
    expect(now.signals[0]?.aborted).toBe(true);
    await stopped;
  });

  it('leaves no timer where the work ends within the grace period', async () => {
    const { clock, pool, finish } = await hanging(create);
    const stopped = pool.stop({ graceMs: 1_000 });
    finish();
    await stopped;
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits for work that goes on after its signal', async () => {
    const clock = new FakeClock();
    const queue = create({ clock });
    const end = Promise.withResolvers<undefined>();
    const pool = queue.run({}, () => end.promise);
    queue.add('a');
    await settle();
    let hasEnded = false;
    const stopped = pool.stop({ graceMs: 10 }).then(() => (hasEnded = true));
    await clock.advance(10_000);
    expect([hasEnded, pool.active]).toEqual([false, 1]);
    end.resolve(undefined);
    await stopped;
  });

  it('tells the work at once when the signal of the pool is aborted after stop()', async () => {
    const { clock, pool, abort, signals } = await hanging(create);
    const stopped = pool.stop({ graceMs: 60_000 });
    abort.abort(new Error('now'));
    await stopped;
    expect(signals[0]?.reason).toEqual(new Error('now'));
    expect(clock.pendingTimers).toBe(0);
  });

  it('is harmless after the end, and refuses a grace period that is none', async () => {
    const clock = new FakeClock();
    const pool = create({ clock }).run({}, () => undefined);
    await pool.stop();
    await pool.stop({ graceMs: 5 });
    expect(clock.pendingTimers).toBe(0);
    for (const graceMs of [-1, Number.NaN, '5'])
      expect(() => void pool.stop({ graceMs } as never)).toThrow(expect.toSatisfy(isQueueArgumentError) as Error);
    expect(() => void pool.stop({ grace: 5 } as never)).toThrow(
      'stop: unknown option "grace": did you mean "graceMs"?',
    );
  });
});
