import type { KubeObject } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import { createBoundedStore } from '../src/index.js';

const make = (name: string, resourceVersion: string, uid = 'u'): KubeObject => ({
  metadata: { namespace: 'ns', name, resourceVersion, uid },
});
/** A store that has evicted `a`, and a server that answers one after the other. */
const evicted = (known: KubeObject, answers: readonly (KubeObject | undefined)[]) => {
  let reads = 0;
  const store = createBoundedStore({ maxObjects: 1, read: async () => answers[Math.min(reads++, answers.length - 1)] });
  store.add(known);
  store.add(make('b', '1'));
  return { store, reads: () => reads };
};

describe('a bounded store whose server is behind', () => {
  it.each([
    ['an older version', make('a', '5')],
    ['a former object', make('a', '5', 'former')],
    ['a former object whose version cannot be compared', make('a', 'x', 'former')],
  ])('reads again instead of %s', async (_what, older) => {
    const { store, reads } = evicted(make('a', '7'), [older, older, make('a', '8')]);
    expect((await store.get('ns/a'))?.metadata.resourceVersion).toBe('8');
    expect([reads(), store.resourceVersionOf('ns/a')]).toEqual([3, '8']);
  });

  it('fails, naming both versions, and keeps what it knows', async () => {
    const { store, reads } = evicted(make('a', '7'), [make('a', '5')]);
    await expect(store.get('ns/a')).rejects.toThrow(
      'read of "ns/a" returned version "5" 3 times, and "7" was put before',
    );
    expect([reads(), store.resourceVersionOf('ns/a'), store.peek('ns/a')]).toEqual([3, '7', undefined]);
  });

  it.each([
    ['the same', make('a', '7')],
    ['a newer one', make('a', '9')],
    ['one that came in its place', make('a', '9', 'next')],
    ['one whose version cannot be compared', make('a', 'x')],
    ['none', undefined],
  ])('takes %s', async (_what, object) => {
    const { store, reads } = evicted(make('a', '7'), [object]);
    expect(await store.get('ns/a')).toEqual(object);
    expect(reads()).toBe(1);
  });

  it('does not return what was read before another one was put and evicted', async () => {
    let put = (): void => undefined;
    const answers = [
      make('a', '7', 'former'),
      make('a', '7', 'former'),
      make('a', '7', 'former'),
      make('a', '12', 'next'),
    ];
    const store = createBoundedStore({
      maxObjects: 1,
      read: async () => {
        put();
        return answers.shift();
      },
    });
    store.add(make('a', '7', 'former'));
    store.add(make('b', '1'));
    put = () => {
      put = () => undefined;
      store.delete(make('a', '7', 'former'));
      store.add(make('a', '12', 'next'));
      store.add(make('b', '2'));
    };
    expect((await store.get('ns/a'))?.metadata.uid).toBe('next');
  });
});
