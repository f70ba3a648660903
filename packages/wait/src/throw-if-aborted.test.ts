import { describe, expect, it } from 'vitest';
import { isAbortError } from './index.js';
import { throwIfAborted } from './internal/index.js';

const thrownBy = (signal: AbortSignal | undefined): unknown => {
  try {
    throwIfAborted(signal);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('throwIfAborted', () => {
  it('throws nothing without a signal, and before the abort', () => {
    expect(thrownBy(undefined)).toBeUndefined();
    expect(thrownBy(new AbortController().signal)).toBeUndefined();
  });

  it('throws an error that was given as it is', () => {
    const reason = new RangeError('enough');
    expect(thrownBy(AbortSignal.abort(reason))).toBe(reason);
  });

  it.each(['stop', 0, null, { stop: true }])('throws an AbortError for the reason %j, which is its cause', (reason) => {
    const error = thrownBy(AbortSignal.abort(reason));
    expect(error).toBeInstanceOf(Error);
    expect(isAbortError(error)).toBe(true);
    expect(error).toHaveProperty('cause', reason);
  });

  it('refuses what is not a signal', () => {
    const controller: object = new AbortController();
    expect(() => throwIfAborted(controller as AbortSignal)).toThrow('an AbortController: expected an AbortSignal');
  });
});
