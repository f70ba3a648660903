import { describe, expect, it } from 'vitest';
import { asksForAnotherRun, outcomeOf, type Outcome } from './outcome.js';
import { checkDecision } from './retry-decision.js';

describe('what a reconciler returns', () => {
  const again = { keep: false, priority: undefined };
  it.each<[unknown, Outcome]>([
    [undefined, { type: 'done' }],
    [null, { type: 'done' }],
    [{}, { type: 'done' }],
    [{ requeueAfterMs: undefined, keep: undefined }, { type: 'done' }],
    [{ backoff: false }, { type: 'done' }],
    [{ priority: 3, keep: true }, { type: 'done' }],
    [{ requeueAfterMs: 5 }, { type: 'requeueAfter', afterMs: 5, ...again }],
    [
      { requeueAfterMs: 5, keep: true, priority: 3 },
      { type: 'requeueAfter', afterMs: 5, keep: true, priority: 3 },
    ],
    [
      { requeueAfterMs: 5, backoff: true },
      { type: 'requeueAfter', afterMs: 5, ...again },
    ],
    [{ requeueAfterMs: 0 }, { type: 'backoff', priority: undefined }],
    [
      { requeueAfterMs: -5, priority: 3 },
      { type: 'backoff', priority: 3 },
    ],
    [
      { backoff: true, priority: 3 },
      { type: 'backoff', priority: 3 },
    ],
  ])('%o means %o', (result, outcome) => {
    expect(outcomeOf(result)).toEqual(outcome);
    expect(asksForAnotherRun(result)).toBe(outcome.type !== 'done');
  });

  it.each<[unknown, string]>([
    [5, 'the result 5 is not valid'],
    ['done', 'the result "done" is not valid'],
    [{ requeue: true }, 'the result has an unknown field "requeue"'],
    [{ toString: 5 }, 'the result has an unknown field "toString"'],
    [{ requeueAfterMs: Number.NaN }, 'requeueAfterMs NaN is not valid: it must be a finite number of ms'],
    [{ requeueAfterMs: Infinity }, 'requeueAfterMs Infinity is not valid'],
    [{ requeueAfterMs: '5' }, 'requeueAfterMs "5" is not valid'],
    [{ keep: 1 }, 'keep 1 is not valid: it must be a boolean'],
    [{ priority: '1' }, 'priority "1" is not valid: it must be a finite number'],
    [{ backoff: 'yes' }, 'backoff "yes" is not valid: it must be a boolean'],
  ])('cannot be %o', (result, message) => {
    expect(() => outcomeOf(result)).toThrow(`reconcile: ${message}`);
  });
});

describe('what a retry policy or an error hook decides', () => {
  it.each<[object]>([
    [{ type: 'stop' }],
    [{ type: 'backoff' }],
    [{ type: 'retry', afterMs: 0 }],
    [{ type: 'retry', afterMs: 5 }],
  ])('may be %o, and nothing beside it counts', (decision) => {
    expect(checkDecision('retryPolicy', { ...decision, more: 1 })).toEqual(decision);
  });

  it.each<[unknown, string]>([
    [undefined, 'returned undefined'],
    [null, 'returned null'],
    ['stop', 'returned "stop"'],
    [{}, 'returned'],
    [{ type: 'give up' }, 'returned a decision of type "give up"'],
    [{ type: 'retry' }, 'returned a retry with afterMs undefined'],
    [{ type: 'retry', afterMs: '5' }, 'returned a retry with afterMs "5"'],
    [{ type: 'retry', afterMs: Number.NaN }, 'returned a retry with afterMs NaN'],
    [{ type: 'retry', afterMs: Infinity }, 'returned a retry with afterMs Infinity'],
  ])('cannot be %o', (decision, message) => {
    expect(() => checkDecision('retryPolicy', decision)).toThrow(`retryPolicy ${message}`);
    expect(() => checkDecision('retryPolicy', decision)).toThrow('which is not valid: expected { type: ');
  });
});
