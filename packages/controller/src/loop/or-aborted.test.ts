import { expect, it } from 'vitest';
import { resolvesFirst } from './or-aborted.js';

const failure = new Error('down');
const { signal } = new AbortController();
const aborted = AbortSignal.abort(new Error('no longer wanted'));

it.each<[string, () => Promise<void>, AbortSignal, boolean]>([
  ['resolves', () => Promise.resolve(), signal, true],
  ['resolves beside an abort', () => Promise.resolve(), aborted, false],
  ['rejects beside an abort', () => Promise.reject(failure), aborted, false],
  ['never settles beside an abort', () => new Promise(() => undefined), aborted, false],
])('a promise that %s', async (_what, make, given, expected) => {
  expect(await resolvesFirst(make(), given)).toBe(expected);
});

it('a promise that rejects without an abort rejects', async () => {
  await expect(resolvesFirst(Promise.reject(failure), signal)).rejects.toBe(failure);
});
