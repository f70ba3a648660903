// What plain JavaScript and casts give to a queue: each piece a clear error at once, and no key is lost by it.
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import {
  bucketRateLimiter,
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  errorAwareRateLimiter,
  exponentialRateLimiter,
  fastSlowRateLimiter,
  isQueueArgumentError,
  maxOfRateLimiter,
  maxWaitRateLimiter,
} from '../src/index.js';
import type { InspectableQueue, PriorityQueueOptions, RateLimiter, WorkQueue } from '../src/index.js';

type Options = PriorityQueueOptions<string>;
const flavours: Readonly<Record<string, (options?: Options) => WorkQueue<string> & InspectableQueue<string>>> = {
  createWorkQueue: (options) => createWorkQueue({ clock: new FakeClock(), ...options }),
  createDelayingQueue: (options) => createDelayingQueue({ clock: new FakeClock(), ...options }),
  createRateLimitingQueue: (options) => createRateLimitingQueue({ clock: new FakeClock(), ...options }),
  createPriorityQueue: (options) => createPriorityQueue({ clock: new FakeClock(), ...options }),
};
const limiting = { createRateLimitingQueue, createPriorityQueue };
const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};
const broken = (): never => {
  throw new Error('boom');
};

describe.each(Object.entries(flavours))('%s', (_name, create) => {
  it.each([
    ['key', { key: 'id' }],
    ['bound.maxPending', { bound: { maxPending: 0 } }],
    ['bound.overflow', { bound: { maxPending: 1, overflow: 'oldest' } }],
    ['bound.onDrop', { bound: { maxPending: 1, onDrop: 'log' } }],
  ])('refuses a %s that it cannot work with', (field, options) => {
    const error = thrownBy(() => create(options as never));
    expect(isQueueArgumentError(error) && error.field).toBe(field);
  });

  it.each([
    [{ clok: new FakeClock() }, 'unknown option "clok": did you mean "clock"?'],
    [{ bound: { maxPending: 1, ondrop: broken } }, 'unknown option "bound.ondrop"'],
    [{ ageing: { stepMs: 1, maxMs: 5 } }, 'unknown option "ageing.maxMs"'],
    [{ ageing: { stepMs: 0 } }, 'ageing.stepMs 0'],
    [{ name: 5 }, 'name is'],
  ])('refuses %o, which would go unnoticed', (options, message) => {
    expect(() => create(options as never)).toThrow(message);
  });

  it('refuses to run without work, or with an onError that is not a function', () => {
    const queue = create();
    queue.add('a');
    expect(String(thrownBy(() => queue.run((() => 1) as never, undefined as never)))).toContain('work is undefined');
    expect(String(thrownBy(() => queue.run({ onError: 'retry' as never }, broken)))).toContain('onError is "retry"');
    expect([queue.length, queue.processing]).toEqual([1, 0]);
  });

  it('loses no key to a wait whose signal is none', async () => {
    const queue = create();
    const signal = new AbortController() as never;
    await expect(queue.get({ signal })).rejects.toThrow('get: signal is an AbortController: expected an AbortSignal');
    expect(() => queue.items({ signal })).toThrow('items: signal is an AbortController: expected an AbortSignal');
    // Without its signal a wait would not end.
    const misspelled = { singal: new AbortController().signal } as never;
    await expect(queue.get(misspelled)).rejects.toThrow('get: unknown option "singal": did you mean "signal"?');
    expect(() => queue.items(misspelled)).toThrow('items: unknown option "singal"');
    await expect(queue.get(null as never)).rejects.toThrow('get: expected options, not null');
    queue.add('a');
    await settle();
    expect(queue.tryGet()).toBe('a');
  });

  it.each([-1, 1.5, Number.NaN, '2'])('refuses the concurrency %o, also later, and works on', async (concurrency) => {
    const queue = create();
    expect(() => queue.run({ concurrency: concurrency as never }, broken)).toThrow('concurrency is');
    const seen: string[] = [];
    const pool = queue.run({ concurrency: 1 }, (item) => void seen.push(item));
    expect(() => Object.assign(pool, { concurrency })).toThrow('concurrency is');
    queue.add('a');
    await queue.waitUntilIdle();
    expect([seen, pool.concurrency]).toEqual([['a'], 1]);
    await pool.stop();
  });

  it('counts the failures of a key in a row, and from 1 again when it was taken back', async () => {
    const queue = create();
    const attempts: number[] = [];
    const onError = (_error: unknown, _item: string, attempt: number): 'stop' => {
      attempts.push(attempt);
      return 'stop';
    };
    const fail = (): Promise<void> => expect(queue.run({ onError }, broken).ended).rejects.toThrow('boom');
    queue.add('a');
    await fail();
    await fail();
    expect(queue.delete('a')).toBe(true);
    queue.add('a');
    await fail();
    expect(attempts).toEqual([1, 2, 1]);
  });

  it.each([undefined, null, 1, {}])('stops for the verdict %s, with the failure as its cause', async (verdict) => {
    const queue = create();
    queue.add('a');
    const pool = queue.run({ onError: () => verdict as never }, broken);
    await expect(pool.ended).rejects.toMatchObject({ field: 'the verdict of onError', cause: { message: 'boom' } });
    expect([queue.tryGet(), queue.length]).toEqual(['a', 0]);
  });

  it('yields to the event loop although its clock stands still and its work never ends', async () => {
    const queue = create({ rateLimiter: { when: () => 0, forget: () => undefined, numRequeues: () => 0 } });
    queue.add('a');
    let failures = 0;
    const onError = (): 'retry' => {
      failures++;
      return 'retry';
    };
    const pool = queue.run({ onError }, broken);
    await settle();
    const before = failures;
    expect(before).toBeGreaterThan(0);
    await settle();
    expect(failures).toBeGreaterThan(before);
    await pool.stop();
    expect(queue.length).toBe(1);
  });
});

describe.each(Object.entries(limiting))('%s', (_name, create) => {
  it.each([null, 5, {}, { when: 5 }, { when: () => 1, forget: () => undefined }])(
    'refuses the limiter %s',
    (limiter) => {
      const error = thrownBy(() => create({ rateLimiter: limiter as never }));
      expect(isQueueArgumentError(error) && error.field).toMatch(/^rateLimiter\.(?:when|numRequeues)$/);
    },
  );

  it.each([Number.NaN, Infinity, undefined, null, '5', {}])(
    'stops for the delay %s of a limiter, with the failure as its cause',
    async (delay) => {
      const rateLimiter = { when: () => delay, forget: () => undefined, numRequeues: () => 0 };
      const queue = create({ clock: new FakeClock(), rateLimiter: rateLimiter as unknown as RateLimiter<string> });
      queue.add('a');
      await expect(queue.run({}, broken).ended).rejects.toMatchObject({
        field: 'the delay of the rate limiter',
        cause: { message: 'boom' },
      });
      expect([queue.tryGet(), queue.length]).toEqual(['a', 0]);
    },
  );

  it.each([undefined, null, 5, {}])('refuses the debounce %s and adds nothing', (debounce) => {
    const queue = create({ clock: new FakeClock() });
    expect(isQueueArgumentError(thrownBy(() => queue.addDebounced('a', debounce as never)))).toBe(true);
    expect([queue.length, queue.delayed]).toEqual([0, 0]);
  });
});

describe('addWith', () => {
  it.each([
    [{ prioirty: 5 }, 'addWith: unknown option "prioirty": did you mean "priority"?'],
    [{ rateLimited: 'no' }, 'addWith: rateLimited "no" is not valid'],
    [{ reason: 5 }, 'addWith: reason is'],
    [{ reason: null }, 'addWith: reason is null'],
    [undefined, 'addWith: expected options, not undefined'],
    ['a', 'addWith: expected options, not "a"'],
  ])('refuses %o, and adds nothing', (options, message) => {
    const queue = createPriorityQueue();
    expect(String(thrownBy(() => queue.addWith(options as never, 'b')))).toContain(message);
    expect([queue.length, queue.delayed]).toEqual([0, 0]);
    queue.addWith({ priority: 1, rateLimited: false, reason: 'because', error: new Error('boom') }, 'b');
    expect(queue.length).toBe(1);
  });
});

describe('a limiter', () => {
  it.each([
    ['baseMs', () => exponentialRateLimiter({ baseMs: -1 })],
    ['maxMs', () => exponentialRateLimiter({ maxMs: Number.NaN })],
    ['fastMs', () => fastSlowRateLimiter({ fastMs: -1, slowMs: 1, maxFastAttempts: 1 })],
    ['slowMs', () => fastSlowRateLimiter({ fastMs: 1, slowMs: -1, maxFastAttempts: 1 })],
    ['maxFastAttempts', () => fastSlowRateLimiter({ fastMs: 1, slowMs: 1, maxFastAttempts: 1.5 })],
    ['maxMs', () => maxWaitRateLimiter(exponentialRateLimiter(), -1)],
    ['maxRetryAfterMs', () => errorAwareRateLimiter({ otherwise: exponentialRateLimiter(), maxRetryAfterMs: -1 })],
    ['perSecond', () => bucketRateLimiter({ perSecond: 0 })],
    ['burst', () => bucketRateLimiter({ burst: 0.5 })],
  ])('refuses a %s that it cannot work with', (field, create) => {
    const error = thrownBy(create);
    expect(isQueueArgumentError(error) && error.field).toBe(field);
  });
});

describe('a limiter made of others', () => {
  const limiter = exponentialRateLimiter();
  const rule = { matches: () => true, limiter };

  it.each([Number.NaN, undefined, '5', null])('takes the result %o of one of them for no number', (result) => {
    const other = { when: () => result, forget: () => undefined, numRequeues: () => result } as never;
    for (const made of [
      maxOfRateLimiter(limiter, other),
      errorAwareRateLimiter({ otherwise: other }),
      errorAwareRateLimiter({ otherwise: limiter, rules: [{ matches: () => true, limiter: other }] }),
    ])
      for (const [method, call] of [
        ['when', () => made.when('a', { error: new Error('boom') })],
        ['numRequeues', () => made.numRequeues('a')],
      ] as const) {
        const error = thrownBy(call);
        expect(isQueueArgumentError(error) && error.field).toBe(`the result of rateLimiter.${method}`);
      }
  });

  it.each([
    ['limiters[1].when', () => maxOfRateLimiter(limiter, undefined as never)],
    ['limiter.when', () => maxWaitRateLimiter({} as never, 5)],
    ['otherwise.when', () => errorAwareRateLimiter({ otherwise: undefined as never })],
    ['rules', () => errorAwareRateLimiter({ otherwise: limiter, rules: {} as never })],
    ['rules[0]', () => errorAwareRateLimiter({ otherwise: limiter, rules: [null as never] })],
    ['rules[1]', () => errorAwareRateLimiter({ otherwise: limiter, rules: [rule, 5 as never] })],
    ['rules[0].matches', () => errorAwareRateLimiter({ otherwise: limiter, rules: [{ limiter } as never] })],
    [
      'rules[0].limiter.when',
      () => errorAwareRateLimiter({ otherwise: limiter, rules: [{ matches: broken } as never] }),
    ],
    ['key', () => exponentialRateLimiter({ key: 'name' as never })],
  ])('names %s where it is none, before the first failure would stop a pool', (field, create) => {
    const error = thrownBy(create);
    expect(isQueueArgumentError(error) && error.field).toBe(field);
  });
});
