import { describe, expect, it } from 'vitest';
import { createConsoleLogger } from './console-logger.js';
import type { ConsoleLoggerOptions } from './console-logger.js';

const now = (): number => Date.UTC(2026, 0, 1);

function lines(options: ConsoleLoggerOptions = {}): {
  readonly logger: ReturnType<typeof createConsoleLogger>;
  readonly written: string[];
} {
  const written: string[] = [];
  return { logger: createConsoleLogger({ now, write: (line) => written.push(line), ...options }), written };
}

const parsed = (written: readonly string[]): unknown[] => written.map((line): unknown => JSON.parse(line));

describe('the console logger', () => {
  it('writes one JSON object a line', () => {
    const { logger, written } = lines();
    logger.info('started', { workers: 2 });
    expect(parsed(written)).toEqual([{ ts: '2026-01-01T00:00:00.000Z', level: 'info', msg: 'started', workers: 2 }]);
  });

  it('leaves out what is below its level, and says so', () => {
    const { logger, written } = lines({ level: 'warn' });
    logger.info('quiet');
    logger.error('loud');
    expect(written).toHaveLength(1);
    expect([logger.isEnabled('info'), logger.isEnabled('warn'), logger.isEnabled('error')]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('hands its fields to its children, which may add and replace', () => {
    const { logger, written } = lines({ fields: { controller: 'a', zone: 1 } });
    logger.child({ name: 'x', zone: 2 }).child({ attempt: 3 }).debug('below the level');
    logger.child({ name: 'x', zone: 2 }).warn('careful', { zone: 3 });
    expect(parsed(written)).toMatchObject([{ controller: 'a', name: 'x', zone: 3 }]);
  });

  it('writes an error with its causes and its stack', () => {
    const { logger, written } = lines();
    logger.error('failed', { error: new Error('update failed', { cause: new Error('conflict') }) });
    expect(parsed(written)).toMatchObject([{ error: { name: 'Error', message: 'update failed: conflict' } }]);
    expect(written[0]).toContain('console-logger.test');
  });

  it('is readable by people in text', () => {
    const { logger, written } = lines({ format: 'text' });
    const error = new Error('update failed', { cause: new Error('conflict') });
    logger.warn('careful', { name: 'web/docs', note: 'two words', count: 2, list: [1], error });
    expect(written).toEqual([
      '2026-01-01T00:00:00.000Z WARN  careful name=web/docs note="two words" count=2 list=[1] error="update failed: conflict"',
    ]);
  });

  it.each(['json', 'text'] as const)('does not throw on any value (%s)', (format) => {
    const { logger, written } = lines({ format });
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const looped = new Error('a');
    looped.cause = looped;
    logger.error('odd', {
      cyclic,
      big: 2n ** 64n,
      none: undefined,
      nil: null,
      symbol: Symbol('s'),
      call: () => 1,
      looped,
    });
    expect(written).toHaveLength(1);
    expect(written[0]).toContain('18446744073709551616');
  });
});
