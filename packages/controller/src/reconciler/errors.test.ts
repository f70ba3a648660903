import { describe, expect, it } from 'vitest';
import {
  ControllerError,
  isControllerError,
  isReconcilePanicError,
  isReconcileTimeoutError,
  isSourceError,
  isTerminalError,
  ReconcilePanicError,
  ReconcileTimeoutError,
  someInChain,
  SourceError,
  terminalError,
} from './errors.js';

const plain = new Error('down');
const errors = {
  isTerminalError: [isTerminalError, terminalError(plain), 'terminal error: down'],
  isReconcilePanicError: [isReconcilePanicError, new ReconcilePanicError(plain), 'panic: down [recovered]'],
  isReconcileTimeoutError: [
    isReconcileTimeoutError,
    new ReconcileTimeoutError(5),
    'the reconcile took longer than its timeout of 5 ms',
  ],
  isSourceError: [isSourceError, new SourceError('lost', { controller: 'c', source: 's' }), 'lost'],
  isControllerError: [isControllerError, new ControllerError('twice'), 'twice'],
} as const;
/** Those that are about what an error means, whoever wraps it. */
const throughCauses = ['isTerminalError', 'isReconcileTimeoutError'];

describe.each(Object.entries(errors))('%s', (name, [guard, error, message]) => {
  it('recognizes its error, of another copy of the package too, and no other', () => {
    expect(error.message).toBe(message);
    const copy = Object.assign(new Error('copy'), { code: error.code });
    expect([error, copy].map((each) => guard(each))).toEqual([true, true]);
    const others = Object.entries(errors).flatMap(([other, [, each]]) => (other === name ? [] : [each]));
    const odd = [
      plain,
      undefined,
      null,
      'x',
      { code: error.code },
      Object.assign(new Error('x'), { code: 'KCTL_OTHER' }),
    ];
    for (const other of [...others, ...odd]) expect([other, guard(other)]).toEqual([other, false]);
  });

  it('looks at causes only for what an error means', () => {
    const wrapped = [
      new Error('outer', { cause: new Error('middle', { cause: error }) }),
      new AggregateError([plain, error]),
    ];
    expect(wrapped.map((each) => guard(each))).toEqual(Array(2).fill(throughCauses.includes(name)));
  });
});

it('keeps what an error is about', () => {
  expect(terminalError(plain).cause).toBe(plain);
  for (const none of [undefined, null]) expect(terminalError(none).message).toBe('nil terminal error');
  expect(new ReconcileTimeoutError(5).timeoutMs).toBe(5);
  expect(new SourceError('lost', { controller: 'c', source: 's' }, { cause: plain })).toMatchObject({
    controller: 'c',
    source: 's',
    cause: plain,
  });
});

describe('a chain of causes', () => {
  it('may be a circle, or hold what cannot be inspected', () => {
    const circle = new Error('again');
    circle.cause = circle;
    expect(someInChain(circle, () => false)).toBe(false);
    const hostile = new Proxy(new Error('x'), {
      getPrototypeOf: () => {
        throw new Error('no');
      },
    });
    expect(someInChain(hostile, (error) => error === plain)).toBe(false);
  });

  it('is followed through errors alone, to a depth of 16', () => {
    const at = (depth: number): Error => (depth === 0 ? plain : new Error('outer', { cause: at(depth - 1) }));
    const among = (depth: number): Error => (depth === 0 ? plain : new AggregateError([among(depth - 1)]));
    for (const make of [at, among])
      expect([16, 17, 18, 40].map((depth) => someInChain(make(depth), (link) => link === plain))).toEqual([
        true,
        true,
        false,
        false,
      ]);
    expect(someInChain({ cause: plain }, (link) => link === plain)).toBe(false);
    expect(someInChain(new Error('x', { cause: 5 }), (link) => link === 5)).toBe(true);
    expect(someInChain(new Error('x'), (link) => link === undefined)).toBe(false);
  });
});
