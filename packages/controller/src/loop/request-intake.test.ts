import { describe, expect, it } from 'vitest';
import type { ReconcileRun } from '../reconciler/reconcile-run.js';
import type { SourceEnqueueOptions } from '../source/source.js';
import { isPanic } from './panic.js';
import { RequestIntake } from './request-intake.js';
import { requireSource, requireStarted, requireWatchOptions } from './watch-entry.js';

const debounce = { quietMs: 1, maxMs: 5 };

function setUp(policies: { readonly hasDebounce?: boolean; readonly restMs?: number } = {}) {
  const added: unknown[] = [];
  const seen: unknown[] = [];
  const intake = new RequestIntake<string>({
    controller: 'c',
    observer: { queued: (...given: unknown[]) => void seen.push(['queued', ...given]) },
    queue: { addWith: (options: object, ...items: string[]) => void added.push([items, options]) },
    running: {
      runOf: (key: string) =>
        key === 'runs' ? ({ markSuperseded: () => void seen.push('superseded') } as ReconcileRun) : undefined,
    },
    requestKey: (request: string) => request,
    policies: {
      debounce: policies.hasDebounce === true ? debounce : undefined,
      restWindows: policies.restMs === undefined ? undefined : { left: () => policies.restMs ?? 0 },
      safetyIntervals: { observe: (...given: unknown[]) => void seen.push(['present', ...given]) },
    },
  } as never);
  return { added, seen, intake };
}

describe('a request that comes in', () => {
  it.each<[SourceEnqueueOptions | undefined, Parameters<typeof setUp>[0], object]>([
    [undefined, {}, {}],
    [{ priority: 3, reason: 'why' }, {}, { priority: 3, reason: 'why' }],
    [{ rateLimited: true }, { hasDebounce: true, restMs: 9 }, { rateLimited: true }],
    [{ rateLimited: false }, {}, {}],
    [{ afterMs: 0 }, { hasDebounce: true, restMs: 9 }, { afterMs: 0 }],
    [{ afterMs: 7, rateLimited: true }, {}, { afterMs: 7, rateLimited: true }],
    [{}, { restMs: 9, hasDebounce: true }, { afterMs: 9 }],
    [{}, { restMs: 0 }, {}],
    [{}, { restMs: -1, hasDebounce: true }, { debounce }],
    [{ presence: 'present' }, { hasDebounce: true }, { debounce }],
    [{ presence: 'gone' }, { hasDebounce: true }, {}],
    [{ priority: -100 }, { hasDebounce: true }, { priority: -100 }],
  ])('with %o, for a key with %o, is queued with %o', (options, policies, plan) => {
    const t = setUp(policies);
    t.intake.add('a', options);
    expect(t.added).toStrictEqual([[['a'], plan]]);
  });

  it('is seen by the observer, supersedes the run of its key, and tells whether its object is there', () => {
    const t = setUp();
    t.intake.add('runs', { presence: 'gone' });
    t.intake.left('rests');
    expect(t.seen).toEqual([
      ['queued', 'c', 'runs', { presence: 'gone' }],
      ['present', 'runs', 'gone'],
      'superseded',
      ['present', 'rests', 'gone'],
    ]);
    expect(t.added).toHaveLength(1);
  });
});

describe('an error', () => {
  it.each<[unknown, boolean]>([
    ['a string', true],
    [undefined, true],
    [{ message: 'x' }, true],
    [new TypeError('x is undefined'), true],
    [new ReferenceError('x is not defined'), true],
    [new ReferenceError('x', { cause: new Error('y') }), true],
    [new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), false],
    [new Error('plain'), false],
    [new RangeError('plain'), false],
  ])('%o is a mistake of the program: %s', (error, panics) => {
    expect(isPanic(error)).toBe(panics);
  });

  it('that cannot be looked at is one', () => {
    const hostile = new Proxy(new Error('x'), {
      getPrototypeOf: () => {
        throw new Error('no');
      },
    });
    expect(isPanic(hostile)).toBe(true);
  });
});

describe('a watch', () => {
  const start = (): void => undefined;

  it.each([undefined, null, 5, 'x', {}, { name: 'x' }, { start }, { name: 5, start }, { name: 'x', start: 5 }])(
    'has a source, not %o',
    (source) => {
      expect(() => requireSource('c', source)).toThrow('controller "c": watch: the source is not valid');
      expect(() => requireSource('c', { name: 'x', start })).not.toThrow();
    },
  );

  it.each([undefined, null, 5, {}, { stop: true }])('is ended by what its source starts, not %o', (started) => {
    expect(() => requireStarted(started)).toThrow('its start() does not return a started source');
    const good = { stop: start };
    expect(requireStarted(good)).toBe(good);
  });

  it('is required or optional', () => {
    for (const startPolicy of [undefined, 'required', 'optional'] as const)
      expect(() => requireWatchOptions('c', startPolicy === undefined ? {} : { startPolicy })).not.toThrow();
    for (const startPolicy of ['never', null, true])
      expect(() => requireWatchOptions('c', { startPolicy: startPolicy as never })).toThrow('startPolicy');
  });
});
