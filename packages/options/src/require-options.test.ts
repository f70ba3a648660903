import { describe, expect, it } from 'vitest';
import { numberOption, textOption } from './option-check.js';
import { nestedOptions, optionProblems, requireOptions, unknownOptions } from './require-options.js';

describe('unknownOptions', () => {
  const known = ['metricsServer', 'health', 'leaderElection', 'gracefulShutdownTimeoutMs'];

  it.each([
    ['metricServer', 'metricsServer'],
    ['metricsserver', 'metricsServer'],
    ['leaderElecton', 'leaderElection'],
    ['helth', 'health'],
    ['gracefulShutdownTimeout', 'gracefulShutdownTimeoutMs'],
  ])('names the nearest of the known ones: %s', (name, nearest) => {
    expect(unknownOptions({ [name]: 1 }, known)).toEqual([`unknown option "${name}": did you mean "${nearest}"?`]);
  });

  it('lists what is known where nothing is near', () => {
    expect(unknownOptions({ zzz: 1 }, ['b', 'a'])).toEqual(['unknown option "zzz": expected a, b']);
  });

  it('takes what is known, and what is undefined for not given', () => {
    expect(unknownOptions({ health: {}, other: undefined }, known)).toEqual([]);
  });

  it('names the place', () => {
    expect(unknownOptions({ prot: 1 }, ['port'], 'health.')).toEqual([
      'unknown option "health.prot": did you mean "port"?',
    ]);
  });
});

describe('optionProblems', () => {
  it.each([
    [undefined, []],
    [{ stepMs: 1 }, []],
    [Object.freeze({ stepMs: 1 }), []],
    [{ stepms: 1 }, ['unknown option "ageing.stepms": did you mean "stepMs"?']],
    [null, ['ageing null is not valid: expected an object of options']],
    [5, ['ageing 5 is not valid: expected an object of options']],
    [[], ['ageing of type array is not valid: expected an object of options']],
    [() => 1, ['ageing of type function is not valid: expected an object of options']],
  ])('of %o', (given, problems) => {
    expect(optionProblems(given, { stepMs: true }, 'ageing')).toEqual(problems);
  });

  it('reads none of the options that are known', () => {
    const given = {
      get stepMs(): number {
        throw new Error('was read');
      },
    };
    expect(optionProblems(given, { stepMs: true })).toEqual([]);
  });
});

describe('requireOptions', () => {
  interface Options {
    readonly port?: number;
    readonly host?: string;
  }
  const known = { port: true, host: true };
  const require = (options: unknown): void => requireOptions<Options>('createServer', options as Options, known);

  it('names what they are for, and all that is wrong', () => {
    expect(() => require({ prot: 1, hots: 'x' })).toThrow(
      new TypeError(
        'createServer: unknown option "prot": did you mean "port"?; unknown option "hots": did you mean "host"?',
      ),
    );
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['8080', '"8080"'],
    [8080, '8080'],
    [[], 'an array'],
    [() => 1, 'a value of type function'],
  ])('asks for options where there are none: %o', (options, shown) => {
    expect(() => require(options)).toThrow(new TypeError(`createServer: expected options, not ${shown}`));
  });

  it('takes none, and those of a class', () => {
    class Defaults {
      readonly port = 1;
      get host(): string {
        return 'a';
      }
      describe(): string {
        return `${this.host}:${this.port}`;
      }
    }
    expect(() => require({})).not.toThrow();
    expect(() => require(new Defaults())).not.toThrow();
    // The context of a reconcile is handed over for its signal.
    const context = new (class {
      readonly port = 1;
      get hots(): string {
        return 'not an option';
      }
    })();
    expect(() => require(context)).not.toThrow();
    expect(() => require(Object.create(null))).not.toThrow();
    expect(() => require(Object.create({ port: 1 }))).not.toThrow();
  });

  const inherited: object = Object.create({ hots: 'a' }) as object;
  it.each([
    ['in another case', { HOST: 'a' }],
    ['inherited from a prototype', inherited],
    ['inherited twice', Object.create(inherited)],
  ])('refuses a misspelled name: %s', (_how, options) => {
    expect(() => require(options)).toThrow(/^createServer: unknown option "(HOST|hots)": did you mean "host"\?$/);
  });

  it.each([
    ['a promise', Promise.resolve({ port: 1 })],
    ['a Map', new Map([['port', 1]])],
    ['a Set', new Set()],
    ['a Date', new Date()],
    ['an AbortSignal', new AbortController().signal],
    ['an Error', new Error('x')],
    ['a URL', new URL('http://a')],
    ['a Uint8Array', new Uint8Array(1)],
  ])('refuses %s, which holds no options', (kind, options) => {
    expect(() => require(options)).toThrow(new TypeError(`createServer: expected options, not ${kind}`));
  });

  it('checks values that are inherited, and names a getter that throws', () => {
    const checked = { port: numberOption({ integer: true }), host: textOption };
    const call = (options: object): void => requireOptions<Options>('createServer', options, checked);
    expect(() => call(Object.create({ port: 'x' }) as object)).toThrow('port "x" is not valid');
    const throwing = {
      get port(): number {
        throw new Error('boom');
      },
    };
    expect(() => call(throwing)).toThrow(new TypeError('createServer: port cannot be read: boom'));
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(() => call(revoked.proxy)).toThrow(TypeError);
  });

  it('refuses misspelled names inside of an option, with their path', () => {
    const nested = { port: true, host: nestedOptions<{ readonly name?: string }>({ name: textOption }) };
    const call = (host: unknown): void => requireOptions<object>('createServer', { host }, nested);
    expect(() => call({ name: 'a' })).not.toThrow();
    expect(() => call({ naem: 'a' })).toThrow('createServer: unknown option "host.naem": did you mean "name"?');
    expect(() => call({ name: 1 })).toThrow('createServer: host.name is a value of type number: expected a string');
    expect(() => call(null)).toThrow('createServer: host null is not valid: expected an object of options');
  });
});
