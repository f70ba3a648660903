import { describe, expect, it } from 'vitest';
import { optionProblems, requireOptions, unknownOptions } from './require-options.js';

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
      get hots(): string {
        return 'inherited: not given';
      }
    }
    expect(() => require({})).not.toThrow();
    expect(() => require(new Defaults())).not.toThrow();
  });
});
