import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  booleanOption,
  clockOption,
  functionOption,
  listOption,
  numberOption,
  objectOption,
  oneOfOption,
  optionWithMethods,
  signalOption,
  textOption,
  textsOption,
} from './option-check.js';
import { optionProblems, requireOptions } from './require-options.js';

const clock = { now: () => 0, monotonicNow: () => 0, setTimer: () => undefined };

class GetterClock {
  readonly #origin = -0.5;
  get now(): () => number {
    return () => this.#origin;
  }
  monotonicNow(): number {
    return this.#origin;
  }
  setTimer(): void {}
}

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

describe('optionWithMethods', () => {
  const store = optionWithMethods(['get', 'set'], 'a store, such as a Map');

  it.each([
    ['its own', { get: () => 1, set: () => 1 }],
    ['those of a class', new Map()],
    ['those of a function', Object.assign(() => 1, { get: () => 1, set: () => 1 })],
    ['one of them, as a stub has', { get: () => 1, set: true }],
  ])('takes what has the methods: %s', (_what, value) => {
    expect(store('cache', value)).toBeUndefined();
  });

  it.each([
    [{}, 'cache has no method get, set: expected a store, such as a Map'],
    [{ get: true }, 'cache has no method get, set: expected a store, such as a Map'],
    [Map, 'cache has no method get, set: expected a store, such as a Map'],
    [null, 'cache is null: expected a store, such as a Map'],
    ['a secret', 'cache is a value of type string: expected a store, such as a Map'],
    [[], 'cache has no method get, set: expected a store, such as a Map'],
  ])('names what is missing: %#', (value, problem) => {
    expect(store('cache', value)).toBe(problem);
  });

  it('does not throw for a proxy that was revoked', () => {
    expect(store('cache', revoked())).toBe('cache has no method get, set: expected a store, such as a Map');
  });
});

describe('checks of options', () => {
  const { signal } = new AbortController();
  it.each([
    [clockOption, clock],
    [clockOption, Object.create(clock) as unknown],
    [clockOption, Object.assign(() => undefined, clock)],
    [clockOption, new GetterClock()],
    [functionOption, () => 1],
    [signalOption, signal],
    [signalOption, runInContext('({ aborted: false, addEventListener() {} })', createContext({})) as unknown],
  ])('take what fits: %#', (check, value) => {
    expect(check('it', value)).toBeUndefined();
  });

  it.each([
    [
      clockOption,
      Date,
      'it has no method monotonicNow, setTimer: expected a Clock, such as systemClock or a FakeClock',
    ],
    [
      clockOption,
      {},
      'it has no method now, monotonicNow, setTimer: expected a Clock, such as systemClock or a FakeClock',
    ],
    [clockOption, { ...clock, now: () => Number.NaN }, 'it.now() returned NaN: expected a number of ms'],
    [clockOption, { ...clock, now: () => 9e15 }, 'it.now() returned 9000000000000000: expected a number of ms'],
    [
      clockOption,
      { ...clock, monotonicNow: () => 5n },
      'it.monotonicNow() returned a value of type bigint: expected a number of ms',
    ],
    [clockOption, { ...clock, now: () => Promise.resolve(5) }, 'it.now() returned a promise: expected a number of ms'],
    [
      clockOption,
      {
        ...clock,
        monotonicNow: () => {
          throw new Error('no time');
        },
      },
      'it.monotonicNow() failed (no time): expected a number of ms',
    ],
    [functionOption, {}, 'it is a value of type object: expected a function'],
    [
      signalOption,
      new AbortController(),
      'it is an AbortController: expected an AbortSignal, such as new AbortController().signal',
    ],
    [signalOption, {}, 'it is a value of type object: expected an AbortSignal, such as new AbortController().signal'],
    [signalOption, null, 'it is null: expected an AbortSignal, such as new AbortController().signal'],
  ])('name what does not fit: %#', (check, value, problem) => {
    expect(check('it', value)).toBe(problem);
  });

  it('are called for values that are given, also inherited ones, with the name of their section', () => {
    const known = { clock: clockOption, name: true };
    expect(optionProblems({ clock: undefined, name: 1 }, known)).toEqual([]);
    expect(optionProblems({ clock: {}, nmae: 1 }, known, 'cache')).toEqual([
      'unknown option "cache.nmae": did you mean "name"?',
      expect.stringMatching(/^cache\.clock has no method now/),
    ]);
    const require = (options: object) => () => requireOptions<object>('createThing', options, known);
    expect(require({ clock: {} })).toThrow(
      /^createThing: clock has no method now, monotonicNow, setTimer: expected a Clock/,
    );
    expect(require({ clock, name: {} })).not.toThrow();
  });
});

describe('checks of values', () => {
  it.each([
    [numberOption({ above: 0 }), 5, undefined],
    [numberOption({ above: 0 }), Number.NaN, 'it NaN is not valid: expected a number > 0'],
    [oneOfOption('error', 'start'), 'start', undefined],
    [oneOfOption('error', 'start'), 'begin', 'it "begin" is not valid: expected "error" or "start"'],
    [oneOfOption('error', 'start'), Symbol('s'), 'it of type symbol is not valid: expected "error" or "start"'],
    [objectOption('scopes'), {}, undefined],
    [objectOption('scopes'), [], 'it is an array: expected scopes'],
    [objectOption('scopes'), null, 'it is null: expected scopes'],
    [listOption('names', textOption), ['a'], undefined],
    [listOption('names', textOption), {}, 'it is a value of type object: expected names'],
    [listOption('names', textOption), ['a', 5], 'it[1] is a value of type number: expected a string'],
    [textsOption, { a: 'b' }, undefined],
    [textsOption, { a: 5 }, 'it["a"] is a value of type number: expected a string'],
    [booleanOption, 'no', 'it "no" is not valid: expected true or false'],
  ])('%#', (check, value, problem) => {
    expect(check('it', value)).toBe(problem);
  });
});
