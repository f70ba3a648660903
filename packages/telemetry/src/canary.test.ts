// Secrets that something hides, at any place of any value, and whatever comes out of each logger searched for them.
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createConsoleLogger,
  createOpenTelemetryLogger,
  createPinoLogger,
  describeError,
  loggable,
  wholeObject,
  type Logger,
  type PinoLike,
} from './index.js';
import { messageOf } from './internal/index.js';

const canary = 'kanarie-9f8e7d6c';
const hidden = '[redacted]';

/** Hides itself as `hideSecrets` of `@kctl/client` does. */
function hiding<T extends object>(value: T, view: unknown): T {
  const show = { value: () => view, enumerable: false };
  return Object.defineProperties(value, { toJSON: show, [inspect.custom]: show });
}

class Credentials {
  readonly token = canary;
  readonly #hidden = canary;
  toJSON(): object {
    return { token: hidden, length: this.#hidden.length };
  }
}

/** Values that contain the canary and are written without it. */
const secrets: Readonly<Record<string, () => unknown>> = {
  'an array that hides its items': () => hiding(['--token', canary], [hidden, hidden]),
  'an object that hides a field': () => hiding({ password: canary }, { password: hidden }),
  'a Map that hides its entries': () => hiding(new Map([['token', canary]]), { token: hidden }),
  'a Set that hides its members': () => hiding(new Set([canary]), [hidden]),
  'an instance of a class': () => new Credentials(),
  'what a toJSON returns hides itself': () => ({ toJSON: () => hiding([canary], [hidden]) }),
  'a proxy of what hides itself': () => new Proxy(hiding([canary], [hidden]), {}),
  'a URL with a password': () => new URL(`https://joe:${canary}@host/path`),
  'the text of a URL with a password': () => `GET https://joe:${canary}@host/path`,
  'an error about a URL': () => new Error(`connect to https://joe:${canary}@host failed`),
  'an error about JSON': () => {
    try {
      return JSON.parse(`{"token": ${canary}`);
    } catch (error) {
      return error;
    }
  },
  'an error with properties': () => Object.assign(new Error('failed'), { token: canary, config: { token: canary } }),
  bytes: () => Buffer.from(canary),
  'the memory of bytes': () => new TextEncoder().encode(canary).buffer,
  'a Secret': () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { token: canary } }),
  'a list of Secrets': () => ({
    apiVersion: 'v1',
    kind: 'SecretList',
    metadata: {},
    items: [{ metadata: { name: 'a' }, data: { token: canary } }],
  }),
  'a whole Secret': () =>
    wholeObject({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { token: canary } }),
  'a private field': () =>
    new (class {
      readonly #token = canary;
      get length(): number {
        return this.#token.length;
      }
    })(),
};

/** Puts a value into another one. */
const containers: Readonly<Record<string, (value: unknown) => unknown>> = {
  object: (value) => ({ value, other: 1 }),
  array: (value) => [1, value],
  map: (value) => new Map([['key', value]]),
  set: (value) => new Set([value]),
  getter: (value) => Object.defineProperty({}, 'lazy', { enumerable: true, get: () => value }),
  'null prototype': (value) => Object.assign(Object.create(null), { value }),
  instance: (value) =>
    Object.assign(
      new (class Holder {
        readonly kind = 1;
      })(),
      { value },
    ),
  symbol: (value) => ({ [Symbol('key')]: value, value }),
  proxy: (value) => new Proxy({ value }, {}),
  'proxy of an array': (value) => new Proxy([value], {}),
  frozen: (value) => Object.freeze({ value }),
  toJSON: (value) => ({ toJSON: () => value }),
  cause: (value) => new Error('outer', { cause: value }),
  'cause of an error': (value) => new Error('outer', { cause: new Error('inner', { cause: value }) }),
  aggregate: (value) => new AggregateError([value, new Error('member')], 'several'),
  'property of an error': (value) => Object.assign(new Error('failed'), { details: value }),
  cycle: (value) => {
    const cyclic: Record<string, unknown> = { value };
    cyclic['self'] = cyclic;
    return cyclic;
  },
};

/** Each way in which a value may come out. */
function outputs(value: unknown): string[] {
  const lines: string[] = [];
  const keep = (line: unknown): void =>
    void lines.push(inspect(line, { depth: Infinity, maxArrayLength: null }), JSON.stringify(line) ?? '');
  const pino: PinoLike = {
    isLevelEnabled: () => true,
    trace: keep,
    debug: keep,
    info: keep,
    warn: keep,
    error: keep,
    child: (bindings) => {
      keep(bindings);
      return pino;
    },
  };
  const loggers: Logger[] = [
    createConsoleLogger({ format: 'json', level: 'trace', write: keep }),
    createConsoleLogger({ format: 'text', level: 'trace', write: keep }),
    createPinoLogger(pino),
    createOpenTelemetryLogger({ emit: keep }, { level: 'trace' }),
  ];
  for (const logger of loggers) {
    logger.error('failed', { value });
    logger.error('failed', { error: value });
    logger.error('failed', value as never);
    logger.error(value as never);
    logger.child({ value }).info('child');
    logger.child(value as never).info('child');
  }
  keep(loggable(value));
  keep(loggable(value, { stacks: false }));
  keep(describeError(value));
  keep(messageOf(value));
  return lines;
}

describe('no secret that is hidden comes out', () => {
  it.each(Object.entries(secrets))('of %s, alone and in each container', (_what, make) => {
    for (const contain of [(value: unknown) => value, ...Object.values(containers)])
      for (const line of outputs(contain(make()))) expect(line).not.toContain(canary);
  });

  it('of any of them at any depth', () => {
    const path = fc.array(fc.constantFrom(...Object.keys(containers)), { maxLength: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(secrets)), path, (secret, names) => {
        const value = names.reduce<unknown>((inner, name) => containers[name]?.(inner), secrets[secret]?.());
        for (const line of outputs(value)) expect(line).not.toContain(canary);
      }),
      { numRuns: 200, seed: 33 },
    );
  });
});
