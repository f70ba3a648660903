import { describe, expect, it } from 'vitest';
import { headerOfEvent, isHeaderSource, oldHeaderOfEvent } from './object-event.js';
import {
  requireHandler,
  requireInformer,
  requireLoan,
  requirePredicates,
  requireRegistration,
  sameAnswer,
} from './required.js';

const work = (): void => undefined;
const informer = { addEventHandler: work };

describe('what others give', () => {
  it.each<[string, (given: unknown) => void, readonly unknown[], readonly unknown[], string]>([
    [
      'an informer',
      (given) => requireInformer('informer of the informers', given),
      [informer],
      [{}, { addEventHandler: 5 }],
      'informer of the informers returned ',
    ],
    [
      'a registration',
      requireRegistration,
      [{ waitForSync: work, remove: work }],
      [{ waitForSync: work }, { remove: work }, { waitForSync: work, remove: true }],
      'addEventHandler of the informer returned ',
    ],
    [
      'a loan',
      requireLoan,
      [{ informer, [Symbol.asyncDispose]: work }],
      [{ informer }, { [Symbol.asyncDispose]: work }, { informer: {}, [Symbol.asyncDispose]: work }],
      'acquire of the informers returned ',
    ],
    ['a handler', (given) => requireHandler('x', given), [work], [{}], 'x: handler is not valid'],
    [
      'a number of handlers at the same time',
      (given) => requireHandler('x', work, given),
      [undefined, 1, 8],
      [0, 1.5, Infinity, {}],
      'x: handlerConcurrency ',
    ],
    [
      'predicates',
      (given) => requirePredicates('x', given),
      [undefined, [], [work, work]],
      [{}, work, [work, 5]],
      'x: predicates',
    ],
  ])('is %s or refused', (...[what, require, good, bad, problem]) => {
    for (const given of good) expect(() => require(given)).not.toThrow();
    const none = what.startsWith('predicates') || what.startsWith('a number') ? [null, 'x'] : [undefined, null, 'x', 5];
    for (const given of [...none, ...bad]) expect(() => require(given)).toThrow(problem);
  });
});

describe('an answer about sameness', () => {
  it.each<[unknown, boolean]>([
    [true, true],
    [false, false],
    [1, true],
    [0, false],
    [undefined, false],
    ['', false],
  ])('%o means %s', (answer, same) => {
    expect(sameAnswer(answer)).toBe(same);
  });

  it('cannot be a promise, which is true always', () => {
    expect(() => sameAnswer(Promise.reject(new Error('late')))).toThrow('isSame returned a promise: it is synchronous');
  });
});

describe('the header of an event', () => {
  const metadata = { name: 'a', namespace: 'n' };
  const header = headerOfEvent({ type: 'generic', object: { metadata: { name: 'given' } } });

  it.each<[unknown, boolean]>([
    [{ metadata }, true],
    [{ metadata: {} }, true],
    [undefined, false],
    [null, false],
    ['a', false],
    [{}, false],
    [{ metadata: null }, false],
    [{ metadata: 'a' }, false],
  ])('is read from %o: %s', (object, isSource) => {
    expect(isHeaderSource(object)).toBe(isSource);
    const name = isSource && object !== null ? ((object as { metadata: { name?: string } }).metadata.name ?? '') : '';
    expect(headerOfEvent({ type: 'generic', object: object as never }).name).toBe(name);
    expect(oldHeaderOfEvent({ type: 'update', oldObject: object as never, object: object as never }).name).toBe(name);
  });

  it('is the one that the source gives', () => {
    const object = { metadata };
    expect(headerOfEvent({ type: 'generic', object, header })).toBe(header);
    expect(oldHeaderOfEvent({ type: 'update', object, oldObject: object, oldHeader: header })).toBe(header);
  });
});
