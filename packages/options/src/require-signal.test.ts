import { createContext, runInContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { requireSignal } from './require-signal.js';

describe('requireSignal', () => {
  const controller = new AbortController();
  it.each([
    ['a signal', controller.signal],
    ['an aborted one', AbortSignal.abort()],
    ['a proxy of one', new Proxy({ aborted: false, addEventListener: () => undefined }, {})],
    ['one of another realm', runInContext('({ aborted: false, addEventListener() {} })', createContext({})) as unknown],
  ])('takes %s', (_name, signal) => {
    expect(() => requireSignal('manager.run', signal)).not.toThrow();
  });

  it.each([[undefined], [null], [{}], ['signal'], [controller], [{ signal: controller.signal }], [() => 1]])(
    'refuses %o',
    (signal) => {
      expect(() => requireSignal('manager.run', signal)).toThrow(
        new TypeError('manager.run needs an AbortSignal, which ends it: run(new AbortController().signal)'),
      );
    },
  );
});
