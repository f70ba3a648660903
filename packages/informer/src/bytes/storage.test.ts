import { expect, it } from 'vitest';
import { compactStorageOf, storageOption } from './storage.js';

it.each([
  ['plain', undefined],
  ['compact', undefined],
  [{}, undefined],
  [{ plainBytes: 0 }, undefined],
  [null, "storage null is not valid: expected 'plain', 'compact' or { plainBytes }"],
  ['packed', `storage "packed" is not valid: expected 'plain', 'compact' or { plainBytes }`],
  [{ plainByte: 1 }, expect.stringContaining('plainByte')],
  [{ plainBytes: -1 }, expect.stringContaining('storage.plainBytes')],
])('checks the storage %o', (value, problem) => {
  expect(storageOption('storage', value)).toEqual(problem);
});

it('chooses how many bytes stay as they came', () => {
  expect(compactStorageOf('call', 'plain', true)).toBeUndefined();
  expect(compactStorageOf('call', 'plain', false)).toBeUndefined();
  expect(compactStorageOf('call', 'compact', true)).toEqual({ plainBytes: 16 * 1024 * 1024 });
  expect(compactStorageOf('call', { plainBytes: 7 }, true)).toEqual({ plainBytes: 7 });
  expect(() => compactStorageOf('call', 'compact', false)).toThrow("call: storage 'compact' needs frozen objects");
});
