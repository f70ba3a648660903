import { createContext, runInContext } from 'node:vm';
import { expect, it } from 'vitest';
import { requireNoPromise, requirePair } from './require-pair.js';

const expected = 'expected { cert, key }, PEM as strings or bytes';

it.each([
  [undefined, 'undefined'],
  [null, 'null'],
  [5, 'a value of type number'],
  [{}, 'cert that is undefined'],
  [{ cert: 'a', key: null }, 'key that is null'],
  [{ cert: ['a'], key: 'b' }, 'cert that is an array'],
])('refuses %j', (pair, shown) => {
  expect(() => requirePair('getCertificate', pair)).toThrow(`getCertificate returned ${shown}: ${expected}`);
});

it('takes PEM as a string or as bytes', () => {
  const pair = { cert: Buffer.from('a'), key: Buffer.from('b') };
  expect(requirePair('load', { cert: 'a', key: new Uint8Array([98]) })).toEqual(pair);
  const ofAnotherRealm: unknown = runInContext('new Uint8Array([98])', createContext({}));
  expect(requirePair('load', { cert: 'a', key: ofAnotherRealm })).toEqual(pair);
});

it('refuses a check that is not over when it returns, and leaves no rejection unhandled', () => {
  const late = Promise.reject(new Error('too late'));
  expect(() => requireNoPromise('certificate.check', late)).toThrow('certificate.check returned a promise: expected');
  expect(() => requireNoPromise('certificate.check', undefined)).not.toThrow();
});
