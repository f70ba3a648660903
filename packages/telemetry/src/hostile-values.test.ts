// Whatever a call of the logger is given, in whatever place: one line, no exception, and the readable rest of it.
import { describe, expect, it } from 'vitest';
import { createConsoleLogger, describeError, loggable, wholeObject } from './index.js';
import { messageOf } from './internal/index.js';
import type { ConsoleLoggerOptions, Logger } from './index.js';

const broken = (): never => {
  throw new Error('cannot be read');
};
const revoked = <T extends object>(target: T): T => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const endless = (): object => ({ toJSON: () => endless() });

const hostile: Readonly<Record<string, () => unknown>> = {
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of a function': () => revoked(() => 1),
  'a revoked proxy of an error': () => revoked(new Error('a')),
  'an object without prototype': () => Object.create(null),
  'a function whose name throws': () => Object.defineProperty(() => 1, 'name', { get: broken }),
  'a function whose name is a symbol': () => Object.defineProperty(() => 1, 'name', { value: Symbol('n') }),
  'a symbol': () => Symbol('s'),
  'a big integer': () => 5n,
  'a toString that throws': () => ({ toString: broken }),
  'an error whose message throws': () => Object.defineProperty(new Error('a'), 'message', { get: broken }),
  'an error whose stack throws': () => Object.defineProperty(new Error('a'), 'stack', { get: broken }),
  'an error whose name and cause throw': () =>
    Object.defineProperties(new Error('a'), { name: { get: broken }, cause: { get: broken } }),
  'keys that throw': () => new Proxy({}, { ownKeys: broken }),
  'a prototype that throws': () => new Proxy({}, { getPrototypeOf: broken }),
  'a tag that throws': () => Object.defineProperty({}, Symbol.toStringTag, { get: broken }),
  'a property that throws': () => Object.defineProperty({}, 'x', { enumerable: true, get: broken }),
  'a toJSON without end': endless,
  'an invalid date': () => new Date(Number.NaN),
};
const loggerTo = (lines: string[], options: ConsoleLoggerOptions = {}): Logger =>
  createConsoleLogger({ ...options, write: (line) => void lines.push(line) });

describe.each(['json', 'text'] as const)('a logger of %s', (format) => {
  it.each(Object.entries(hostile))('writes one line for %s in any place', (_name, make) => {
    const places: readonly ((logger: Logger) => void)[] = [
      (logger) => logger.error('m', { good: 'kept', value: make(), nested: { value: [make()] } }),
      (logger) => logger.error(make() as string, { good: 'kept' }),
      (logger) => logger.child(make() as never).error('m', { good: 'kept' }),
      (logger) => logger.child({ good: 'kept', value: make() }).error('m', make() as never),
    ];
    for (const place of places) {
      const lines: string[] = [];
      place(loggerTo(lines, { format }));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('kept');
      if (format === 'json') expect(() => void JSON.parse(lines[0] ?? '')).not.toThrow();
    }
  });

  it('names the field that cannot be read, and writes the others', () => {
    const lines: string[] = [];
    const fields = {
      before: 1,
      get bad(): number {
        return broken();
      },
      after: 2,
    };
    loggerTo(lines, { format }).info('m', fields);
    expect(lines[0]).toMatch(/before\W+1.*bad.*cannot be read.*after\W+2/);
  });

  it('writes an error and a text that are given in the place of fields or message', () => {
    const lines: string[] = [];
    const logger = loggerTo(lines, { format });
    logger.error('m', new Error('boom') as never);
    logger.error(new Error('boom') as never);
    logger.error('m', 'boom' as never);
    expect(lines.map((line) => line.includes('boom'))).toEqual([true, true, true]);
    // The stack of the test: both calls with an error name the place of it.
    expect(lines.map((line) => line.includes('hostile-values.test'))).toEqual([true, true, false]);
  });

  it.each([() => 9e15, broken, () => 'noon', () => 5n, () => Symbol('s')])(
    'writes a line whose time is garbage (%#)',
    (now) => {
      const lines: string[] = [];
      loggerTo(lines, { format, now: now as () => number }).info('m', { good: 'kept' });
      expect(lines[0]).toContain('kept');
    },
  );
});

it.each(Object.entries(hostile))('messageOf, describeError and loggable take %s', (_name, make) => {
  expect(messageOf(make())).toBeTypeOf('string');
  expect(describeError(make()).message).toBeTypeOf('string');
  expect(() => JSON.stringify([loggable(make()), loggable(wholeObject({ value: make() }))])).not.toThrow();
});

it('refuses a write or a time that is not a function, and survives a write that rejects', async () => {
  expect(() => createConsoleLogger({ write: console as never })).toThrow('write is of type object: give a function');
  expect(() => createConsoleLogger({ now: 5 as never })).toThrow('now is of type number: give a function');
  const write: () => unknown = () => Promise.reject(new Error('disk full'));
  createConsoleLogger({ write }).info('m');
  // An unhandled rejection is reported within a turn of the event loop, and fails the run of these tests.
  await new Promise((resolve) => setImmediate(resolve));
});

it('bounds what objects with shared parts become', () => {
  let reads = 0;
  const leaf = Object.defineProperty({}, 'n', { enumerable: true, get: () => reads++ });
  let shared: object = leaf;
  // Eight references to each of eleven levels: 8 billion places.
  for (let level = 0; level < 11; level++)
    shared = Object.fromEntries(Array.from({ length: 8 }, (_, part) => [`part${part}`, shared]));
  const text = JSON.stringify(loggable(shared));
  expect(reads).toBeLessThan(50_000);
  expect(text.length).toBeLessThan(3_000_000);
  expect(text).toContain('[more, an object]');
  const long = 'x'.repeat(40_000);
  expect(JSON.stringify(loggable(Array.from({ length: 200 }, () => long))).length).toBeLessThan(1_200_000);
});
