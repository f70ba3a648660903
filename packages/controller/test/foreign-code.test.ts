// Code that is not ours, called by the loop: whatever it throws, returns or leaves undone costs one run at most.
import type { Counter, Family, Gauge, Histogram, Metrics, Tracer } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ControllerOptions, ReconcileRequest, RetryDecision } from '../src/index.js';
import { enqueueRequestsFromMapFunc, funcSource, handlerFuncs, informerSource } from '../src/index.js';
import { FakeInformer, pod } from './fakes.js';
import { createHarness } from './harness.js';

const failing = async (): Promise<never> => {
  throw new Error('the reconcile failed');
};
const hostile = (): object => Object.create(null) as object;
const throwing = (): never => {
  throw new Error('foreign');
};

/** Runs `run` and returns the rejections that nothing handled. */
async function unhandled(run: () => Promise<void>): Promise<unknown[]> {
  const found: unknown[] = [];
  const listener = (reason: unknown): void => void found.push(reason);
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', listener);
  try {
    await run();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const each of before) process.on('unhandledRejection', each);
  }
  return found;
}

/** A run of one key, ten seconds long. */
async function play(
  reconcile: Parameters<typeof createHarness>[0],
  options: Partial<ControllerOptions<ReconcileRequest>>,
) {
  const t = createHarness(reconcile, options);
  const { done } = await t.start();
  t.pods.add(pod('a'));
  await t.clock.advance(36);
  const errors = t.logger.lines.filter(({ level }) => level === 'error');
  const runs = t.runs.map(({ at }) => at);
  t.stop.abort();
  await done;
  return { errors, runs, t };
}

describe('a thrown value', () => {
  it.each<[string, () => unknown]>([
    ['without a prototype', hostile],
    ['that is undefined', () => undefined],
    ['that is a symbol', () => Symbol('x')],
    ['that is a bigint', () => 7n],
    [
      'whose text throws',
      () => ({
        toString: throwing,
      }),
    ],
    [
      'whose message throws',
      () =>
        Object.defineProperty(new Error('x'), 'message', {
          get: throwing,
        }),
    ],
    [
      'that is a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
  ])('%s is a failed run like any other', async (_what, make) => {
    const value = make();
    const lost = await unhandled(async () => {
      const { runs, errors } = await play(() => Promise.reject(value), {}); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- the subject
      expect(runs).toEqual([0, 5, 15, 35]);
      const [first] = errors;
      expect(first?.message).toBe('Reconciler error');
      const { error } = first?.fields ?? {};
      expect(Object.is(error, value) || Object.is((error as Error).cause, value)).toBe(true);
    });
    expect(lost).toEqual([]);
  });
});

describe('an error hook', () => {
  it.each<[string, unknown, string]>([
    ['NaN', { type: 'retry', afterMs: Number.NaN }, 'onError returned a retry with afterMs NaN'],
    ['no time', { type: 'retry' }, 'onError returned a retry with afterMs undefined'],
    ['another type', { type: 'later' }, 'onError returned a decision of type "later"'],
    ['a text', 'stop', 'onError returned "stop"'],
    ['no prototype', hostile(), 'onError returned of type object'],
  ])(
    'that returns %s is named, the original error is logged, and the policy stands',
    async (_what, answer, problem) => {
      const { errors, runs } = await play(failing, { onError: async () => answer as RetryDecision });
      expect(runs).toEqual([0, 5, 15, 35]);
      expect(errors[0]?.fields['error']).toMatchObject({ message: expect.stringContaining(problem) });
      expect(errors[1]).toMatchObject({
        message: 'Reconciler error',
        fields: { error: new Error('the reconcile failed') },
      });
    },
  );

  it('that throws or rejects leaves the decision to the policy', async () => {
    for (const onError of [throwing, () => Promise.reject(new Error('foreign'))]) {
      const { errors, runs } = await play(failing, { onError });
      expect(runs).toEqual([0, 5, 15, 35]);
      expect(errors.slice(0, 2).map(({ fields }) => fields['error'])).toEqual([
        new Error('foreign'),
        new Error('the reconcile failed'),
      ]);
    }
  });
});

describe('a retry policy', () => {
  it.each<[string, () => unknown, string]>([
    ['throws', throwing, 'foreign'],
    [
      'returns NaN',
      () => ({ type: 'retry', afterMs: Number.NaN }),
      'retryPolicy.decide returned a retry with afterMs NaN',
    ],
    [
      'returns Infinity',
      () => ({ type: 'retry', afterMs: Infinity }),
      'retryPolicy.decide returned a retry with afterMs Infinity',
    ],
    ['returns nothing', () => undefined, 'retryPolicy.decide returned undefined'],
  ])('that %s is named, the original error is logged, and the back-off counts', async (_what, decide, problem) => {
    const { errors, runs } = await play(failing, { retryPolicy: { decide: decide as () => RetryDecision } });
    expect(runs).toEqual([0, 5, 15, 35]);
    expect(errors[0]?.fields['error']).toMatchObject({ message: expect.stringContaining(problem) });
    expect(errors[1]?.fields['error']).toEqual(new Error('the reconcile failed'));
  });
});

describe('a rate limiter', () => {
  it.each<[string, () => unknown]>([
    ['throws', throwing],
    ['returns NaN', () => Number.NaN],
    ['returns Infinity', () => Infinity],
    ['returns a negative delay', () => -1],
    ['returns nothing', () => undefined],
  ])('that %s loses no key: the default back-off counts', async (_what, when) => {
    const rateLimiter = { when: when as () => number, forget: throwing, numRequeues: () => 0 };
    for (const reconcile of [failing, async () => ({ backoff: true }), async () => ({ requeueAfterMs: 0 })]) {
      const { errors, runs } = await play(reconcile, { rateLimiter });
      expect(runs).toEqual([0, 5, 15, 35]);
      expect(errors[0]?.message).toBe('the rate limiter failed, the default back-off counts');
    }
  });

  it('that fails in a handler loses no event', async () => {
    const t = createHarness(undefined, {
      rateLimiter: { when: throwing, forget: () => undefined, numRequeues: () => 0 },
    });
    t.controller.watch(
      funcSource('x', ({ queue }) => {
        queue.add({ name: 'limited' }, { rateLimited: true });
        return undefined;
      }),
    );
    await t.start();
    await t.clock.advance(5);
    expect(t.runs.map(({ name }) => name)).toEqual(['limited']);
    t.stop.abort();
  });
});

describe('a logger', () => {
  it.each<[string, object]>([
    ['that throws', { isEnabled: throwing, debug: throwing, info: throwing, warn: throwing, error: throwing }],
    ['with one method', { info: () => undefined }],
  ])('%s costs no worker and no key, nor does a failure that cannot be logged', async (_, logger) => {
    const lost = await unhandled(async () => {
      const t = createHarness(
        () => {
          throw new Error('for the log');
        },
        { logger: logger as never },
      );
      const { done } = await t.start();
      for (const name of ['a', 'b', 'c']) t.pods.add(pod(name));
      await settle();
      expect(t.runs.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      await t.clock.advance(5);
      expect(t.runs.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
      t.stop.abort();
      await done;
    });
    expect(lost).toEqual([]);
  });
});

describe('a metrics sink', () => {
  const broken = (throwsAtDeclaration: boolean): Metrics => {
    const child = { inc: throwing, dec: throwing, set: throwing, observe: throwing };
    const family = <T extends Counter | Gauge | Histogram>(): Family<T> =>
      throwsAtDeclaration ? throwing() : { with: () => child as unknown as T, remove: throwing };
    return { counter: family, gauge: family, histogram: family, onCollect: throwing };
  };

  it.each([true, false])(
    'that throws costs no worker and no key, and is logged once (at declaration: %s)',
    async (at) => {
      const lost = await unhandled(async () => {
        const t = createHarness(undefined, { metrics: broken(at) });
        const { done } = await t.start();
        for (const name of ['a', 'b', 'c']) t.pods.add(pod(name));
        await settle();
        expect(t.runs.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
        const lines = t.logger.lines.filter(({ level }) => level === 'error');
        expect(lines.map(({ message }) => message)).toEqual([
          'The metrics sink failed, measurements are lost; later failures are not logged',
        ]);
        t.stop.abort();
        await done;
      });
      expect(lost).toEqual([]);
    },
  );
});

describe('a tracer', () => {
  it.each<[string, Tracer['withSpan']]>([
    ['throws', throwing],
    ['rejects', () => Promise.reject(new Error('foreign'))],
    [
      'rejects after the run',
      async (_name, _attributes, work) => {
        await work({ setAttributes: throwing, recordError: throwing, end: throwing });
        return throwing();
      },
    ],
  ])('that %s costs the span, not the run', async (_what, withSpan) => {
    const { runs, t } = await play(async () => ({ requeueAfterMs: 20 }), { tracer: { withSpan } });
    expect(runs).toEqual([0, 20]);
    expect(t.logger.lines.map(({ message }) => message)).toContain('the tracer failed, the run goes on without a span');
  });

  it.each<[string, Tracer['withSpan']]>([
    [
      'does not settle',
      (_name, _attributes, work) => {
        void work({ setAttributes: throwing, recordError: throwing, end: throwing });
        return new Promise(() => undefined);
      },
    ],
    [
      'calls the work late, once more, after it has rejected',
      (_name, _attributes, work) => {
        setImmediate(() => void work({ setAttributes: throwing, recordError: throwing, end: throwing }));
        return Promise.reject(new Error('foreign'));
      },
    ],
    [
      'returns nothing and calls the work twice',
      ((_name, _attributes, work) => {
        void work(undefined as never);
        void work(null as never);
      }) as Tracer['withSpan'],
    ],
  ])('that %s keeps no worker and runs nothing twice', async (_what, withSpan) => {
    const { runs } = await play(async () => ({ requeueAfterMs: 20 }), { tracer: { withSpan } });
    expect(runs).toEqual([0, 20]);
  });

  it.each<[string, unknown]>([
    ['never calls back and does not settle', new Promise(() => undefined)],
    ['never calls back and returns nothing', undefined],
    ['never calls back and returns a number', 5],
  ])('that %s is reported, and the run begins without it', async (_what, returned) => {
    const withSpan = (() => returned) as Tracer['withSpan'];
    const t = createHarness(async () => undefined, { tracer: { withSpan } });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await t.clock.advance(1_100);
    expect(t.runs).toHaveLength(1);
    const errors = t.logger.lines.filter(({ level }) => level === 'error');
    t.stop.abort();
    await done;
    expect(errors.map(({ fields }) => String(fields['error']))).toEqual([
      'TypeError: tracer.withSpan did not call its work within 1000 ms: expected one call of work(span), whose promise it returns',
    ]);
  });

  it('that never calls back does not hold up a stop', async () => {
    const t = createHarness(async () => undefined, { tracer: { withSpan: () => new Promise(() => undefined) } });
    const { done } = await t.start();
    t.pods.add(pod('a'));
    await settle();
    t.stop.abort();
    await done;
  });
});

describe('log fields', () => {
  it('that throw do not hide the error', async () => {
    const { errors } = await play(failing, { logFields: throwing });
    expect(errors.map(({ fields }) => fields['error'])).toContainEqual(new Error('the reconcile failed'));
  });
});

describe('a map function', () => {
  it('that rejects for the old object and throws for the new one leaves no rejection behind', async () => {
    const informer = new FakeInformer().sync();
    let calls = 0;
    const handler = enqueueRequestsFromMapFunc<object, ReconcileRequest>((): Promise<ReconcileRequest[]> => {
      calls++;
      if (calls % 2 === 1) return Promise.reject(new Error('old'));
      throw new Error('new');
    });
    const lost = await unhandled(async () => {
      const t = createHarness();
      t.controller.watch(informerSource({ informer, handler }));
      const { done } = await t.start();
      informer.update(pod('a'), pod('a', { resourceVersion: '2' }));
      await t.clock.advance(500);
      t.stop.abort();
      await done;
    });
    expect([lost, calls > 2]).toEqual([[], true]);
  });

  it('may return a thenable, and requests with a bigint', async () => {
    const informer = new FakeInformer().sync();
    type Request = { readonly name: string; readonly id: bigint };
    const thenable = (requests: Request[]): Promise<Request[]> =>
      ({ then: (resolve: (requests: Request[]) => void) => resolve(requests) }) as unknown as Promise<Request[]>;
    const handler = enqueueRequestsFromMapFunc<object, Request>(() =>
      thenable([
        { name: 'a', id: 1n },
        { name: 'a', id: 1n },
        { name: 'a', id: 2n },
      ]),
    );
    const t = createHarness();
    t.controller.watch(informerSource<object, Request>({ informer, handler }));
    await t.start();
    informer.add(pod('a'));
    await settle();
    expect(t.runs.length).toBe(2);
    t.stop.abort();
  });
});

describe('a handler', () => {
  it('that returns a thenable is awaited before the next event of its object', async () => {
    const informer = new FakeInformer().sync();
    const log: string[] = [];
    let release: () => void = () => undefined;
    const handler = handlerFuncs<object, ReconcileRequest>({
      create: () => {
        log.push('create');
        return { then: (resolve: () => void) => void (release = resolve) };
      },
      update: () => void log.push('update'),
    });
    const t = createHarness();
    t.controller.watch(informerSource({ informer, handler }));
    await t.start();
    informer.add(pod('a'));
    informer.update(pod('a'), pod('a', { resourceVersion: '2' }));
    await settle();
    expect(log).toEqual(['create']);
    release();
    await settle();
    expect(log).toEqual(['create', 'update']);
    t.stop.abort();
  });
});
