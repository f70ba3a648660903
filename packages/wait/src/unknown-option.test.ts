import { describe, expect, it } from 'vitest';
import { unknownOptions } from './unknown-option.js';

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
