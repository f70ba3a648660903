import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createRecordingLogger } from './recording-logger.js';
import type { ObjectEvent } from '../src/event/object-event.js';
import { FailedEvents } from '../src/source/failed-events.js';
import { objectEventTraits } from '../src/source/object-event-traits.js';

type Event = ObjectEvent<string>;
const cause = new Error('down');
/** An update of the object whose name is the first letter; none without a letter. */
const event = (state: string): Event => ({ type: 'update', oldObject: state, object: state });

function setUp(keep = 16) {
  const clock = new FakeClock();
  const logger = createRecordingLogger();
  const delivered: string[] = [];
  const last = new Map<string, Event>();
  const failed = new FailedEvents<string>({
    traits: objectEventTraits(({ object }) => (/^[a-z]/.test(object) ? object.slice(0, 1) : undefined)),
    keep,
    logger,
    clock,
    random: () => 0.5,
    deliver: (each) => {
      delivered.push(each.object);
      last.set(each.object, each);
    },
  });
  const messages = (): string[] => logger.lines.splice(0).map(({ message }) => message);
  return { clock, logger, delivered, last, failed, messages };
}

describe('an event whose handler failed', () => {
  it('is delivered again after 100 ms, doubled each time, up to 30 s', async () => {
    const t = setUp();
    const one = event('a1');
    const waits: number[] = [];
    for (let each = 0; each < 11; each++) {
      t.failed.failed(one, cause);
      const before = t.clock.monotonicNow();
      while (t.delivered.length <= each) await t.clock.advance(50);
      waits.push(t.clock.monotonicNow() - before);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    expect(t.logger.lines.map(({ fields }) => fields['retryInMs'])).toEqual(waits);
    expect(t.logger.lines[0]?.fields).toEqual({ object: 'a', error: cause, retryInMs: 100 });
  });

  it('is spread by a tenth to both sides', async () => {
    for (const [random, ms] of [
      [0, 90],
      [1, 110],
    ] as const) {
      const delays: number[] = [];
      const clock = new FakeClock();
      const failed = new FailedEvents<string>({
        traits: objectEventTraits(({ object }) => object),
        keep: 1,
        logger: createRecordingLogger(),
        clock: Object.assign(clock, {
          setTimer: (_callback: () => void, delay: number, options: object) => {
            expect(options).toEqual({ keepAlive: false });
            delays.push(delay);
            return { cancel: () => undefined };
          },
        }),
        random: () => random,
        deliver: () => undefined,
      });
      failed.failed(event('a'), cause);
      failed.hung(event('b'), cause);
      expect(delays[0]).toBeCloseTo(ms);
      expect(delays[1]).toBe(300_000);
    }
  });

  it('holds the later events of its object, and no others; then they follow in order', async () => {
    const t = setUp();
    const one = event('a1');
    expect(t.failed.holds(one)).toBe(false);
    t.failed.failed(one, cause);
    expect([t.failed.holds(event('a2')), t.failed.holds(event('b1')), t.failed.holds(event('1'))]).toEqual([
      true,
      false,
      false,
    ]);
    await t.clock.advance(100);
    expect(t.delivered).toEqual(['a1']);
    expect([t.failed.holds(one), t.failed.holds(event('a3'))]).toEqual([false, true]);
    t.failed.handled(event('a2')); // not the one that is delivered
    t.failed.handled(event('b1'));
    expect(t.delivered).toEqual(['a1']);
    t.failed.handled(one);
    expect(t.delivered).toEqual(['a1', 'a2']);
    t.failed.handled(t.last.get('a2')!);
    expect(t.delivered).toEqual(['a1', 'a2', 'a3']);
    t.failed.handled(t.last.get('a3')!);
    expect([t.failed.holds(event('a4')), t.clock.pendingTimers]).toEqual([false, 0]);
  });

  it('yields to a newer one of its object after six attempts, which begins anew', async () => {
    const t = setUp();
    const one = event('a1');
    t.failed.failed(one, cause);
    t.failed.holds(event('a2'));
    for (let attempt = 2; attempt < 6; attempt++) {
      await t.clock.advance(30_000);
      t.failed.failed(one, cause);
    }
    expect(new Set(t.delivered)).toEqual(new Set(['a1']));
    await t.clock.advance(30_000);
    t.messages();
    t.failed.failed(one, cause);
    expect([t.delivered.at(-1), t.messages()]).toEqual([
      'a2',
      ['event handler failed, a newer event of the object takes its place'],
    ]);
    t.failed.failed(t.last.get('a2')!, cause);
    await t.clock.advance(100);
    expect(t.delivered.slice(-2)).toEqual(['a2', 'a2']);
  });

  it('is tried at once when a newer one comes after six attempts', async () => {
    const t = setUp();
    const one = event('a1');
    t.failed.failed(one, cause);
    for (let attempt = 2; attempt <= 6; attempt++) {
      await t.clock.advance(30_000);
      t.failed.failed(one, cause);
    }
    const before = t.delivered.length;
    t.failed.holds(event('a2'));
    expect(t.delivered.slice(before)).toEqual(['a1']);
    t.failed.holds(event('a3')); // it is under way
    expect(t.delivered).toHaveLength(before + 1);
  });

  it('keeps few later events, and merges the others', () => {
    const t = setUp(2);
    const one = event('a1');
    t.failed.failed(one, cause);
    for (const state of ['a2', 'a3', 'a4', 'a5']) t.failed.holds(event(state));
    t.failed.handled(one);
    while (t.last.size < 10 && t.delivered.at(-1) !== 'a5') t.failed.handled(t.last.get(t.delivered.at(-1)!)!);
    expect(t.delivered.length).toBeLessThanOrEqual(3);
    expect(t.delivered.at(-1)).toBe('a5');
  });
});

describe('an event whose handler does not settle', () => {
  it('is tried again after five minutes, one object at a time', async () => {
    const t = setUp();
    for (const state of ['a1', 'b1']) t.failed.hung(event(state), cause);
    expect(t.logger.lines.map(({ fields }) => fields['retryInMs'])).toEqual([300_000, 600_000]);
    await t.clock.advance(299_999);
    expect(t.delivered).toEqual([]);
    await t.clock.advance(1);
    expect(t.delivered).toEqual(['a1']);
    await t.clock.advance(300_000);
    expect(t.delivered).toEqual(['a1', 'b1']);
    await t.clock.advance(600_000);
    expect([t.delivered.length, t.clock.pendingTimers]).toEqual([2, 0]);
  });

  it('is tried again no later because another one hangs meanwhile', async () => {
    const t = setUp();
    t.failed.hung(event('a1'), cause);
    await t.clock.advance(150_000);
    t.failed.hung(event('b1'), cause);
    await t.clock.advance(150_000);
    expect(t.delivered).toEqual(['a1']);
  });

  it('merges with the first newer one of its object, which is tried at once; the later ones wait', () => {
    const t = setUp();
    t.failed.hung(event('a1'), cause);
    t.failed.holds(event('a2'));
    expect([t.delivered, t.last.get('a2')]).toMatchObject([['a2'], { type: 'update', oldObject: 'a1' }]);
    t.failed.hung(t.last.get('a2')!, cause);
    t.failed.holds(event('a3'));
    t.failed.holds(event('a4'));
    expect(t.delivered).toEqual(['a2']);
  });

  it('yields to the newest state when it hangs again', async () => {
    const t = setUp();
    t.failed.hung(event('a1'), cause);
    t.failed.holds(event('a2'));
    t.failed.holds(event('a3'));
    t.failed.hung(t.last.get('a2')!, cause);
    await t.clock.advance(300_000);
    expect(t.delivered).toEqual(['a2', 'a3']);
    expect(t.last.get('a3')).toMatchObject({ oldObject: 'a3' });
    t.failed.handled(t.last.get('a3')!);
    expect(t.failed.holds(event('a4'))).toBe(false);
  });

  it('has the others tried 100 ms after one of them was handled', async () => {
    const t = setUp();
    const one = event('a1');
    t.failed.hung(one, cause);
    t.failed.hung(event('b1'), cause);
    t.failed.handled(one);
    await t.clock.advance(99);
    expect(t.delivered).toEqual([]);
    await t.clock.advance(1);
    expect(t.delivered).toEqual(['b1']);
  });

  it('leaves the pause as it is when an event is handled that only failed', async () => {
    const t = setUp();
    const one = event('a1');
    t.failed.failed(one, cause);
    t.failed.hung(event('b1'), cause);
    t.failed.handled(one);
    await t.clock.advance(1_000);
    expect(t.delivered).toEqual([]);
  });

  it('begins its delays anew when it fails instead', async () => {
    const t = setUp();
    const one = event('a1');
    t.failed.hung(one, cause);
    t.failed.failed(one, cause);
    await t.clock.advance(100);
    expect(t.delivered).toEqual(['a1']);
    t.failed.holds(event('a2'));
    expect(t.delivered).toEqual(['a1']);
  });
});

describe('the end', () => {
  it('delivers nothing further, and leaves no timer', async () => {
    const t = setUp();
    t.failed.failed(event('a1'), cause);
    t.failed.hung(event('b1'), cause);
    expect(t.clock.pendingTimers).toBe(2);
    t.failed.clear();
    expect([t.clock.pendingTimers, t.failed.holds(event('a2'))]).toEqual([0, false]);
    t.failed.hung(event('c1'), cause);
    await t.clock.advance(300_000);
    expect(t.delivered).toEqual(['c1']);
  });
});

it('tries at most 1000 events without a name again, and says which are dropped', async () => {
  const t = setUp();
  for (let each = 0; each < 1_000; each++) t.failed.failed(event(`${each}`), cause);
  expect(t.logger.lines[0]?.fields).toEqual({ object: '', error: cause, retryInMs: 100 });
  t.messages();
  t.failed.failed(event('1000'), cause);
  t.failed.hung(event('1001'), cause);
  t.failed.failed(event('a1'), cause);
  const dropped = 'event handler failed, too many events without a name failed before: the event is dropped';
  expect(t.messages()).toEqual([dropped, dropped, 'event handler failed, will be called again']);
  await t.clock.advance(100);
  expect(t.delivered).toHaveLength(1_001);
  expect(t.delivered.at(-1)).toBe('a1');
});
