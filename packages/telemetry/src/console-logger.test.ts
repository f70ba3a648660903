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

  it('changes its level while it runs, with that of its children', () => {
    const { logger, written } = lines();
    const child = logger.child({ name: 'x' });
    logger.level = 'debug';
    child.debug('seen');
    child.level = 'error';
    logger.warn('not seen');
    expect(parsed(written)).toMatchObject([{ msg: 'seen' }]);
    expect([logger.level, child.level, logger.isEnabled('warn')]).toEqual(['error', 'error', false]);
    expect(() => (logger.level = 'loud' as never)).toThrow('level is "loud": use one of trace');
    expect(logger.level).toBe('error');
  });

  it.each([
    ['rfc3339', '2026-01-01T00:00:00.250Z'],
    ['seconds', 1_767_225_600.25],
    ['ms', 1_767_225_600_250],
  ] as const)('writes the time as %s', (timeFormat, expected) => {
    const { logger, written } = lines({ timeFormat, now: () => now() + 250 });
    logger.info('started');
    expect(parsed(written)).toMatchObject([{ ts: expected }]);
  });

  it('leaves out repetitions where it samples, by level and message, and counts them', () => {
    let ms = now();
    const { logger, written } = lines({ sampling: { initial: 2, thereafter: 3, tickMs: 1_000 }, now: () => ms });
    for (let n = 1; n <= 9; n++) logger.child({ n }).info('again');
    logger.warn('again');
    expect(parsed(written)).toMatchObject([
      { n: 1 },
      { n: 2 },
      { n: 5, suppressed: 2 },
      { n: 8, suppressed: 2 },
      { level: 'warn' },
    ]);
    ms += 1_000;
    logger.info('again', { n: 10 });
    logger.info('again', { n: 11 });
    logger.info('again', { n: 12 });
    expect(parsed(written).slice(5)).toMatchObject([{ n: 10, suppressed: 1 }, { n: 11 }]);
    expect(written).toHaveLength(7);
  });

  it('writes no repetition where `thereafter` is 0, and samples as zap does by default', () => {
    const none = lines({ sampling: { initial: 1, thereafter: 0 } });
    const zap = lines({ sampling: {} });
    for (let n = 0; n < 300; n++) {
      none.logger.info('again');
      zap.logger.info('again');
    }
    expect([none.written.length, zap.written.length]).toEqual([1, 102]);
    expect(() => createConsoleLogger({ sampling: { initial: 0 } })).toThrow('sampling.initial 0 is not valid');
  });

  it('names the members of an AggregateError where there is no stack', () => {
    const { logger, written } = lines({ format: 'text' });
    logger.warn('no connection', {
      error: new AggregateError([new Error('connect ::1'), new Error('connect 127.0.0.1')], ''),
    });
    logger.warn('failed', { error: new AggregateError([new Error('first'), new Error('second')], 'two') });
    expect(written[0]).toContain('connect ::1; connect 127.0.0.1');
    expect(written[1]).toContain('two (first; second)');
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

  it('writes the stacks of errors below the entry in text, in one write', () => {
    const { logger, written } = lines({ format: 'text' });
    logger.error('failed', { error: new Error('update failed', { cause: new TypeError('no replicas') }), attempt: 2 });
    expect(written).toHaveLength(1);
    const [first, ...below] = written[0]?.split('\n') ?? [];
    expect(first).toMatch(/ERROR failed error="update failed: no replicas" attempt=2$/);
    expect(below[0]).toBe('    Error');
    expect(below[1]).toMatch(/^ {8}at .*console-logger\.test\.ts/);
    expect(below.join('\n')).toMatch(/caused by: TypeError\n {8}at .*console-logger\.test\.ts/);
  });

  it.each([
    ['info', 'warn', false],
    ['warn', 'warn', true],
    ['warn', 'error', false],
    ['info', 'info', true],
  ] as const)('an error at %s has a stack with stackLevel %s: %s', (level, stackLevel, expected) => {
    for (const format of ['json', 'text'] as const) {
      const { logger, written } = lines({ format, stackLevel });
      logger[level]('failed', { error: new Error('boom') });
      expect(written[0]?.includes('console-logger.test')).toBe(expected);
    }
  });

  it.each(['json', 'text'] as const)('keeps ts, level and msg against fields of these names (%s)', (format) => {
    const { logger, written } = lines({ format, fields: { level: 'debug' } });
    logger.error('real', { msg: 'forged', ts: 'never' });
    expect(written[0]).toMatch(format === 'json' ? /"level":"error","msg":"real"/ : /^2026\S+ ERROR real /);
    expect(written[0]).toMatch(/fields\.msg["=:]+forged/);
    if (format === 'json')
      expect(parsed(written)).toEqual([
        {
          ts: '2026-01-01T00:00:00.000Z',
          level: 'error',
          msg: 'real',
          'fields.level': 'debug',
          'fields.msg': 'forged',
          'fields.ts': 'never',
        },
      ]);
  });

  it('escapes what could end a line or steer a terminal in text', () => {
    const { logger, written } = lines({ format: 'text' });
    logger.info('two\nlines', {
      'odd\nkey': 'a\u2028b',
      esc: '\u001b[31mred',
      error: new Error('x\n    at forged (a.js:1:1)'),
    });
    logger.error('stack', { error: new Error('x\n    at forged (a.js:1:1)') });
    expect(written[0]?.split(/[\n\u2028]/u)).toHaveLength(1);
    expect(written[0]).not.toContain('\u001b');
    expect(written[1]?.split('\n').filter((line) => line.includes('forged'))).toHaveLength(1);
  });

  it.each([{ level: 'verbose' }, { format: 'xml' }, { stackLevel: '' }])('refuses %o by name', (wrong) => {
    expect(() => createConsoleLogger(wrong as unknown as ConsoleLoggerOptions)).toThrow(
      new RegExp(`${Object.keys(wrong)[0] ?? ''} is "${Object.values(wrong)[0] ?? ''}": use one of`),
    );
  });

  it('does not fail the work that it reports on', () => {
    const logger = createConsoleLogger({
      write: () => {
        throw new Error('disk full');
      },
      now: () => Number.NaN,
    });
    expect(() => logger.error('lost')).not.toThrow();
  });

  it('is readable by people in text', () => {
    const { logger, written } = lines({ format: 'text' });
    const error = new Error('update failed', { cause: new Error('conflict') });
    logger.info('careful', { name: 'web/docs', note: 'two words', count: 2, list: [1], error });
    expect(written).toEqual([
      '2026-01-01T00:00:00.000Z INFO  careful name=web/docs note="two words" count=2 list=[1] error="update failed: conflict"',
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
