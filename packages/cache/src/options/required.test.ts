import type { Kind } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import type { CacheOptions } from '../index.js';
import { createCache } from '../index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const refuse = (): Promise<never> => Promise.reject(new Error('not here'));
const client = { list: refuse, watch: refuse } as unknown as CacheOptions['client'];
const nothing = undefined as unknown;

describe('createCache', () => {
  it.each([
    [{ client: nothing }, 'createCache: client undefined is not valid: expected a client, such as createHttpClient(…)'],
    [{ client: {} }, 'createCache: client of type object is not valid'],
    [{ client, byObject: [{}] }, 'createCache: byObject[0].kind undefined is not valid: expected a kind, such as'],
    [{ client, lingerMs: Number.NaN }, 'createCache: lingerMs NaN is not valid: expected a number of ms ≥ 0'],
  ])('refuses what cannot be right by name, value and remedy: %#', (options, message) => {
    expect(() => createCache(options as CacheOptions)).toThrow(TypeError);
    expect(() => createCache(options as CacheOptions)).toThrow(message);
  });

  it('takes the stub of a test, which has what the test reads, and says what an informer lacks', () => {
    const cache = createCache({ client: { get: refuse } as never });
    expect(() => cache.informerFor(Thing)).toThrow('listerWatcherFor: client of type object is not valid');
  });

  it('needs no client where it is told how to list and watch', () => {
    expect(() => createCache({ listerWatcherFor: () => client } as unknown as CacheOptions)).not.toThrow();
  });
});

describe('a cache', () => {
  const cache = createCache({ client });
  const none = nothing as Kind;

  it.each([
    ['informerFor', () => cache.informerFor(none)],
    ['acquire', () => cache.acquire(none)],
    ['addIndex', () => cache.addIndex(none, 'spec.node', { path: 'spec.node' })],
    ['isCached', () => cache.isCached(none)],
  ])('says that the kind is missing: %s', (_method, call) => {
    expect(call).toThrow('cache: kind undefined is not valid: expected a kind, such as Pod of');
  });

  it('says what is wrong with an index', () => {
    expect(() => cache.addIndex(Thing, 'spec.node', {} as never)).toThrow(
      'index field:spec.node is not valid: expected a function, { path }, { header } or { object }',
    );
  });
});
