import { runInNewContext } from 'node:vm';
import { isDeadlineExceeded, type Clock, type ClockTimer } from '@kctl/wait';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { DeliveryOptions, EventTraits, Series } from './index.js';
import { Slicer } from '@kctl/wait/internal';
import { Delivery, Turn } from './index.js';

interface Reading {
  readonly of: string;
  readonly value: number;
}

const traits: EventTraits<Reading> = {
  keyOf: ({ of }) => of,
  typeOf: () => 'update',
  isResync: () => false,
  mergeAdd: (_add, latest) => latest,
  mergeUpdate: (_first, latest) => latest,
};
const reading = (of: string, value: number): Reading => ({ of, value });
const texts = (readings: readonly Reading[]): string => readings.map(({ of, value }) => `${of}${value}`).join(' ');

/** Time passes while nothing runs; then what fell due meanwhile does, late. */
class StandingClock implements Clock {
  readonly timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  monotonicNow(): number {
    return this.#now;
  }

  setTimer(callback: () => void, delayMs: number): ClockTimer {
    const timer = { at: this.#now + delayMs, callback };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  standStill(ms: number): void {
    this.#now += ms;
    const due = [...this.timers].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.timers.delete(timer)) timer.callback();
  }
}

/** A delivery that notes what it calls and what fails. */
function open(call: (event: Reading) => unknown = () => undefined, options: Partial<DeliveryOptions<Reading>> = {}) {
  const clock = new FakeClock();
  const heard: Reading[] = [];
  const failed: unknown[] = [];
  const delivery = new Delivery<Reading>({
    name: 'the handler',
    clock,
    traits,
    onFailure: ({ event, error }) => void failed.push([event.of, error]),
    call: (event) => {
      heard.push(event);
      return call(event);
    },
    ...options,
  });
  return { clock, heard, failed, delivery };
}

describe('an event', () => {
  it('is delivered at once where nothing is before it', () => {
    const { delivery, heard } = open();
    delivery.offer(reading('a', 1));
    delivery.offer(reading('a', 2));
    expect(texts(heard)).toBe('a1 a2');
  });

  it('that is offered within a callback comes after it', async () => {
    const steps: string[] = [];
    const { delivery } = open(({ of, value }) => {
      steps.push(`begin ${of}${value}`);
      if (value === 1) delivery.offer(reading('a', 2));
      steps.push(`end ${of}${value}`);
    });
    delivery.offer(reading('a', 1));
    await settle();
    expect(steps).toEqual(['begin a1', 'end a1', 'begin a2', 'end a2']);
  });

  it('waits for a callback that runs, merged with later ones of its object, in the order of arrival', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { delivery, heard } = open(() => gate.promise);
    for (const [of, value] of [
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['b', 2],
      ['c', 1],
      ['a', 3],
    ] as const)
      delivery.offer(reading(of, value));
    expect([texts(heard), delivery.pending]).toEqual(['a1', 3]);
    gate.resolve(undefined);
    await delivery.drained();
    expect(texts(heard)).toBe('a1 b2 a3 c1');
  });

  it('counts as waiting as long as an earlier one of its object is being delivered', async () => {
    const gate = Promise.withResolvers<undefined>();
    const next = Promise.withResolvers<undefined>();
    const { delivery, heard } = open(
      ({ value }) => (value === 1 ? gate.promise : value === 2 ? next.promise : undefined),
      {
        keep: 2,
      },
    );
    for (let value = 1; value <= 3; value++) delivery.offer(reading('a', value));
    gate.resolve(undefined);
    await settle();
    expect([texts(heard), delivery.pending]).toEqual(['a1 a2', 1]);
    next.resolve(undefined);
    await delivery.drained();
    expect([texts(heard), delivery.pending]).toEqual(['a1 a2 a3', 0]);
  });

  it('is kept unmerged where it is wanted', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { delivery, heard } = open(() => gate.promise, { keep: 3 });
    for (let value = 1; value <= 9; value++) delivery.offer(reading('a', value));
    gate.resolve(undefined);
    await delivery.drained();
    expect(texts(heard)).toBe('a1 a2 a3 a9');
  });

  it('waits for what comes before the delivery, however that ends', async () => {
    for (const settled of [() => Promise.resolve(), () => Promise.reject(new Error('x'))]) {
      const after = settled();
      const { delivery, heard } = open(undefined, { after });
      delivery.offer(reading('a', 1));
      expect(heard).toEqual([]);
      await delivery.drained();
      expect(texts(heard)).toBe('a1');
    }
  });
});

describe('a callback that fails', () => {
  const error = new Error('x');
  it.each<[string, () => unknown, unknown]>([
    [
      'throws',
      () => {
        throw error;
      },
      error,
    ],
    ['rejects', () => Promise.reject(error), error],
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
    ['rejects as a thenable', () => ({ then: (_: unknown, reject: (e: unknown) => void) => reject(error) }), error],
    [
      'rejects as a function with then',
      () => Object.assign(() => undefined, { then: (_: unknown, reject: (e: unknown) => void) => reject(error) }),
      error,
    ],
    [
      'throws in then',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
        then: () => {
          throw error;
        },
      }),
      error,
    ],
    ['throws without a prototype', () => Promise.reject(Object.create(null) as Error), expect.anything()],
  ])('is reported once, with its event, and the next one follows: %s', async (_how, call, expected) => {
    const { delivery, heard, failed } = open(call);
    for (const of of ['a', 'b']) delivery.offer(reading(of, 1));
    await delivery.drained();
    expect(texts(heard)).toBe('a1 b1');
    expect(failed).toEqual([
      ['a', expected],
      ['b', expected],
    ]);
  });

  it('in its report does not end the delivery', async () => {
    const { delivery, heard } = open(() => Promise.reject(error), {
      onFailure: () => {
        throw new Error('the report fails');
      },
    });
    for (const of of ['a', 'b']) delivery.offer(reading(of, 1));
    await delivery.drained();
    expect(texts(heard)).toBe('a1 b1');
  });

  it('to settle is reported when its time is over; what it does later changes nothing', async () => {
    const gates = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const { clock, delivery, heard, failed } = open(({ value }) => gates[value]?.promise);
    for (const value of [0, 1, 2]) delivery.offer(reading(`o${value}`, value));
    await clock.advance(29_999);
    expect([heard.length, failed.length]).toEqual([1, 0]);
    await clock.advance(1);
    expect([heard.length, failed.length]).toEqual([2, 1]);
    const [[of, failure] = []] = failed as [string, unknown][];
    expect([of, isDeadlineExceeded(failure)]).toEqual(['o0', true]);
    expect(String(failure)).toMatch(/the handler has not settled after 30000 ms: the event counts as delivered; let/u);
    gates[0]?.reject(error);
    await settle();
    expect([heard.length, failed.length]).toEqual([2, 1]);
    gates[1]?.resolve(undefined);
    await delivery.drained();
    expect([heard.length, failed.length, clock.pendingTimers]).toEqual([3, 1, 0]);
  });

  it('is not given up for the time in which the event loop stood still', async () => {
    const clock = new StandingClock();
    const gates = new Map([0, 1].map((value) => [value, Promise.withResolvers<undefined>()]));
    const { delivery, heard, failed } = open(({ value }) => gates.get(value)?.promise, { clock });
    for (const value of [0, 1]) delivery.offer(reading(`o${value}`, value));
    clock.standStill(35_000); // no answer that the handler waits for can have come
    await settle();
    expect([heard.length, failed.length]).toEqual([1, 0]);
    gates.get(0)?.resolve(undefined);
    await settle();
    expect([heard.length, failed.length]).toEqual([2, 0]);
    clock.standStill(35_000);
    for (let second = 0; second < 40; second++) clock.standStill(1000); // it turns again, and the handler still hangs
    await settle();
    expect([failed.length, clock.timers.size]).toEqual([1, 0]);
    await delivery.drained();
  });

  it('has its own time, however long others before it took', async () => {
    const { clock, delivery, failed } = open(
      ({ value }) => new Promise<void>((resolve) => clock.setTimer(resolve, value)),
    );
    for (const of of ['a', 'b', 'c']) delivery.offer(reading(of, 29_000));
    await clock.advance(90_000);
    expect([failed, delivery.pending, clock.pendingTimers]).toEqual([[], 0, 0]);
  });
});

describe('a promise of another realm', () => {
  it('is awaited', async () => {
    const realm = runInNewContext('Promise.withResolvers()') as PromiseWithResolvers<undefined>;
    const { delivery, heard } = open(() => realm.promise);
    for (const of of ['a', 'b']) delivery.offer(reading(of, 1));
    await settle();
    expect(texts(heard)).toBe('a1');
    realm.resolve(undefined);
    await delivery.drained();
    expect(texts(heard)).toBe('a1 b1');
  });
});

describe('the end', () => {
  it('drops what waits, waits for the callback that runs, and ends every wait', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { clock, delivery, heard } = open(() => gate.promise);
    for (const of of ['a', 'b']) delivery.offer(reading(of, 1));
    const waits = Promise.all([delivery.drained(), delivery.caughtUp()]);
    let hasEnded = false;
    void delivery.ended().then(() => (hasEnded = true));
    delivery.end();
    delivery.offer(reading('c', 1));
    await waits;
    await delivery.caughtUp();
    expect([hasEnded, delivery.pending]).toEqual([false, 0]);
    gate.resolve(undefined);
    await settle();
    expect([hasEnded, texts(heard), clock.pendingTimers]).toEqual([true, 'a1', 0]);
  });

  it.each([
    ['at the end', 0, 5000],
    ['long before', 10_000, 0],
  ])('does not wait for ever for a callback that was called %s', async (_when, before, after) => {
    const { clock, delivery, failed } = open(() => new Promise(() => undefined));
    delivery.offer(reading('a', 1));
    await clock.advance(before);
    delivery.end();
    let hasEnded = false;
    void delivery.ended().then(() => (hasEnded = true));
    await clock.advance(Math.max(0, after - 1));
    expect(hasEnded).toBe(after === 0);
    await clock.advance(1);
    expect([hasEnded, failed.length, clock.pendingTimers]).toEqual([true, 1, 0]);
  });

  it('within a callback is an end', async () => {
    const { delivery, heard } = open(() => delivery.end());
    for (const of of ['a', 'b']) delivery.offer(reading(of, 1));
    await delivery.ended();
    expect(texts(heard)).toBe('a1');
  });
});

describe('a turn', () => {
  it('is shared fairly by deliveries to one handler, which never call at the same time', async () => {
    const turn = new Turn();
    let running = 0;
    const order: string[] = [];
    const call = async ({ of }: Reading): Promise<void> => {
      order.push(of);
      expect(++running).toBe(1);
      await Promise.resolve();
      running--;
    };
    const [first, second] = [open(call, { turn }).delivery, open(call, { turn }).delivery];
    for (let at = 0; at < 5; at++) {
      first.offer(reading(`a${at}`, 1));
      second.offer(reading(`b${at}`, 1));
    }
    await Promise.all([first.drained(), second.drained()]);
    expect(order.map((of) => of[0]).join('')).toBe('ababababab');
  });

  it('goes on to the next one when the one whose turn it is has ended', async () => {
    const turn = new Turn();
    const gate = Promise.withResolvers<undefined>();
    const [busy, leaving, waiting] = [
      open(() => gate.promise, { turn }),
      open(undefined, { turn }),
      open(undefined, { turn }),
    ];
    for (const { delivery } of [busy, leaving, waiting]) delivery.offer(reading('a', 1));
    await settle();
    expect([busy, leaving, waiting].map(({ heard }) => heard.length)).toEqual([1, 0, 0]);
    gate.resolve(undefined);
    leaving.delivery.end();
    await waiting.delivery.drained();
    expect([leaving.heard.length, waiting.heard.length]).toEqual([0, 1]);
  });
});

describe('lanes', () => {
  it('let objects overtake one that takes time, in order per object and no more at a time than there are', async () => {
    const running = new Map<string, number>();
    const wrong: string[] = [];
    const last = new Map<string, number>();
    const { clock, delivery, heard } = open(
      async ({ of, value }) => {
        if (running.has(of)) wrong.push(`${of} overlaps`);
        if ((last.get(of) ?? -1) >= value) wrong.push(`${of}${value} comes late`);
        last.set(of, value);
        running.set(of, value);
        if (running.size > 3) wrong.push(`${running.size} run`);
        await new Promise<void>((resolve) => clock.setTimer(resolve, of === 'slow' ? 1000 : 10));
        running.delete(of);
      },
      { lanes: 3, keep: 100 },
    );
    delivery.offer(reading('slow', 0));
    for (let value = 0; value < 5; value++)
      for (const of of ['a', 'b', 'c', 'd', 'slow']) delivery.offer(reading(of, value + 1));
    await clock.advance(900);
    expect(heard.filter(({ of }) => of !== 'slow').length).toBe(20);
    await clock.advance(10_000);
    expect([heard.length, wrong, delivery.pending, clock.pendingTimers]).toEqual([26, [], 0, 0]);
  });
});

describe('several series that are inserted at the same time', () => {
  it('follow one another, after what was offered before', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { delivery, heard } = open(({ of, value }) => (of === 'a' && value === 0 ? gate.promise : undefined));
    const seriesOf = (of: string): Series<Reading> => {
      let next = 0;
      return {
        get left() {
          return 3 - next;
        },
        next: () => reading(of, ++next),
      };
    };
    for (const of of ['a', 'b']) delivery.offer(reading(of, 0));
    for (const of of ['x', 'y', 'z']) delivery.insert(seriesOf(of));
    await settle();
    expect(texts(heard)).toBe('a0');
    gate.resolve(undefined);
    await delivery.drained();
    expect(texts(heard)).toBe('a0 b0 x1 x2 x3 y1 y2 y3 z1 z2 z3');
  });
});

describe('what waited', () => {
  it('for several handlers is delivered in one slice in a turn, where they share a slicer', async () => {
    let now = 0;
    const clock = Object.assign(new FakeClock(), { monotonicNow: () => now });
    const slicer = new Slicer(clock, 5);
    const places = Array.from({ length: 10 }, () => open(() => void now++, { clock, slicer }));
    for (const { delivery } of places)
      for (let value = 0; value < 20; value++) delivery.offer(reading(`o${value}`, value));
    const count = (): number => places.reduce((sum, { heard }) => sum + heard.length, 0);
    const perTurn: number[] = [];
    for (let before = count(); before < 200; before = count()) {
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(count() - before);
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(6);
  });

  it('is delivered in slices of the event loop', async () => {
    let now = 0;
    const clock = Object.assign(new FakeClock(), { monotonicNow: () => now });
    const gate = Promise.withResolvers<undefined>();
    const { delivery, heard } = open(({ value }) => (now++, value === 0 ? gate.promise : undefined), { clock });
    for (let value = 0; value <= 100; value++) delivery.offer(reading(`o${value}`, value));
    gate.resolve(undefined);
    const perTurn: number[] = [];
    for (let before = heard.length; heard.length < 101; before = heard.length) {
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(heard.length - before);
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(6);
  });
});
