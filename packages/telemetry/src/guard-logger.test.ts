import { describe, expect, it } from 'vitest';
import { guardLogger } from './guard-logger.js';
import type { Logger } from './logger.js';
import { noopLogger } from './noop.js';

const throwing = (): never => {
  throw new Error('the sink is broken');
};
const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;

function loggerWith(write: () => void, child: () => Logger): Logger {
  return { trace: write, debug: write, info: write, warn: write, error: write, isEnabled: throwing, child };
}

describe('guardLogger', () => {
  it.each<[string, () => void]>([
    ['throws', throwing],
    ['rejects', () => Promise.reject(new Error('the sink is broken'))],
  ])('never fails with a sink that %s, nor do its children', async (_how, write) => {
    const broken = loggerWith(write, throwing);
    for (const logger of [guardLogger(broken), guardLogger(loggerWith(write, () => broken))]) {
      for (const level of levels) logger[level]('message', { a: 1 });
      for (const level of levels) logger.child({ b: 2 })[level]('message');
      expect(logger.isEnabled('debug')).toBe(true);
    }
    // A rejection without a handler would fail this run.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('writes what it is given, with the fields of children', () => {
    const lines: unknown[] = [];
    const sink = (own: object): Logger => ({
      ...loggerWith(
        () => undefined,
        () => noopLogger,
      ),
      isEnabled: (level) => level === 'error',
      error: (message, fields) => void lines.push({ message, ...own, ...fields }),
      child: (fields) => sink({ ...own, ...fields }),
    });
    const logger = guardLogger(sink({}));
    logger.child({ a: 1 }).error('failed', { b: 2 });
    expect(lines).toEqual([{ message: 'failed', a: 1, b: 2 }]);
    expect([logger.isEnabled('error'), logger.isEnabled('info')]).toEqual([true, false]);
    expect(guardLogger(noopLogger)).toBe(noopLogger);
    expect(guardLogger(logger)).toBe(logger);
  });

  it.each<[string, object]>([
    ['lacks child and levels', {}],
    ['is a mock whose methods return nothing', { child: () => undefined, isEnabled: () => undefined, debug: () => 5 }],
  ])('takes a sink that %s, and adds the fields of children itself', (_how, rest) => {
    const lines: unknown[] = [];
    const stub = { error: (message: string, fields?: object) => void lines.push([message, fields]), ...rest };
    const logger = guardLogger(stub as never);
    logger.debug('not lost on anyone');
    logger.child({ a: 1, b: 1 }).child({ b: 2 }).error('failed', { c: 3 });
    logger.error('whole');
    expect(lines).toEqual([
      ['failed', { a: 1, b: 2, c: 3 }],
      ['whole', undefined],
    ]);
    expect(logger.isEnabled('trace')).toBe(true);
  });
});
