// Stores without indexes: the contract that all keep, what expires when, and what is held of what was evicted.
import type { KubeObject } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createBoundedStore,
  createExpiringCache,
  createStore,
  createTtlStore,
  metaNamespaceKey,
} from '../src/index.js';
import type { BoundedStore, Store } from '../src/index.js';

const item = (name: string, resourceVersion = '1', namespace = 'a'): KubeObject => ({
  metadata: { namespace, name, resourceVersion },
});
const names = (store: Pick<Store<KubeObject>, 'list'>): unknown[] => store.list().map(({ metadata }) => metadata?.name);

describe.each<[string, () => Store<KubeObject>]>([
  ['createStore', () => createStore()],
  ['createTtlStore', () => createTtlStore({ ttlMs: 1000, clock: new FakeClock() })],
])('a store of %s', (where, create) => {
  it('puts, replaces and removes by key', () => {
    const store = create();
    const a = item('a');
    store.add(a);
    store.update(item('b'));
    store.add(item('c', '1', ''));
    expect([store.get('a/a'), store.keys(), store.size]).toEqual([a, ['a/a', 'a/b', 'c'], 3]);
    expect(store.get('a/a')).toBe(a);
    store.update(item('a', '2'));
    expect(store.get('a/a')?.metadata?.resourceVersion).toBe('2');
    store.delete({ metadata: { namespace: 'a', name: 'b' } });
    store.delete(item('never there'));
    expect(names(store).toSorted()).toEqual(['a', 'c']);
    store.replace([item('x'), item('y')], '7');
    expect([names(store), store.get('a/a')]).toEqual([['x', 'y'], undefined]);
  });

  it('refuses an object without a key, and a replacement with one as a whole', () => {
    const store = create();
    store.add(item('a'));
    expect(() => store.add({ metadata: {} })).toThrow('an object has no metadata.name: give the option key');
    expect(() => store.replace([item('b'), { metadata: {} }])).toThrow('metadata.name');
    expect(store.keys()).toEqual(['a/a']);
    const options = { ttlMs: 5, key: () => '' };
    const nameless = where === 'createStore' ? createStore({ key: options.key }) : createTtlStore(options);
    expect(() => nameless.add(item('a'))).toThrow(`${where}: the key of an object "" is not valid`);
    expect(() => createStore({ key: 'name' as never })).toThrow('createStore: key is');
    expect(() => createStore({ keys: () => '' } as never)).toThrow('unknown option "keys"');
  });
});

it('metaNamespaceKey is what the keys of client-go are', () => {
  expect([metaNamespaceKey(item('a')), metaNamespaceKey({ metadata: { name: 'b' } })]).toEqual(['a/a', 'b']);
  expect(() => metaNamespaceKey(null)).toThrow(TypeError);
});

describe('createTtlStore', () => {
  it('drops an object when its time since the last put has passed', () => {
    const clock = new FakeClock();
    const store = createTtlStore<KubeObject>({ ttlMs: 1000, clock });
    store.add(item('a'));
    store.add(item('b'));
    clock.advanceSync(600);
    store.update(item('a', '2'));
    clock.advanceSync(399);
    expect(store.keys()).toEqual(['a/b', 'a/a']);
    clock.advanceSync(1);
    expect([store.keys(), store.size, store.get('a/b'), names(store)]).toEqual([['a/a'], 1, undefined, ['a']]);
    clock.advanceSync(600);
    expect([store.size, clock.pendingTimers]).toEqual([0, 0]);
    expect(() => createTtlStore({ ttlMs: 0 })).toThrow('createTtlStore: ttlMs 0 is not valid');
  });
});

describe('createExpiringCache', () => {
  it('returns no value whose own time has passed', () => {
    const clock = new FakeClock();
    const cache = createExpiringCache<string, number>({ clock });
    cache.set('short', 1, 10);
    cache.set('long', 2, 100);
    cache.set('ever', 3, Infinity);
    cache.set('never', 4, 0);
    expect(['short', 'long', 'ever', 'never'].map((key) => cache.get(key))).toEqual([1, 2, 3, undefined]);
    clock.advanceSync(10);
    expect([cache.get('short'), cache.delete('short'), cache.delete('ever')]).toEqual([undefined, false, true]);
    expect(cache.entries()).toEqual([['long', 2]]);
    cache.set('long', 5, 1000);
    clock.advanceSync(999);
    expect(cache.get('long')).toBe(5);
    expect(() => cache.set('x', 1, Number.NaN)).toThrow('ttlMs NaN');
    cache.clear();
    expect(cache.size).toBe(0);
    expect(() => createExpiringCache({ maxEntries: 0 })).toThrow('maxEntries 0 is not valid');
  });

  it('holds at most about as much in vain as is alive, though nothing reads it', () => {
    const clock = new FakeClock();
    const cache = createExpiringCache<number, number>({ clock });
    let most = 0;
    for (let key = 0; key < 20_000; key++) {
      cache.set(key, key, 100);
      if (key % 10 === 0) clock.advanceSync(1);
      most = Math.max(most, cache.size);
    }
    // 1,000 are alive at any time.
    expect(most).toBeLessThan(2100);
  });

  it('drops the one that was used longest ago where there are too many', () => {
    const cache = createExpiringCache<string, number>({ maxEntries: 2, clock: new FakeClock() });
    cache.set('a', 1, 100);
    cache.set('b', 2, 100);
    cache.get('a');
    cache.set('c', 3, 100);
    expect(cache.entries().map(([key]) => key)).toEqual(['a', 'c']);
  });

  it('is a map with times, whatever is done to it', () => {
    const step = fc.tuple(fc.constantFrom('set', 'get', 'delete', 'wait'), fc.nat(4), fc.nat(20));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const clock = new FakeClock();
        const cache = createExpiringCache<number, number>({ clock });
        const model = new Map<number, { value: number; until: number }>();
        let now = 0;
        steps.forEach(([what, key, amount], index) => {
          const known = model.get(key);
          const expected = known !== undefined && known.until > now ? known.value : undefined;
          if (what === 'wait') {
            now += amount;
            clock.advanceSync(amount);
          } else if (what === 'set') {
            cache.set(key, index, amount);
            model.set(key, { value: index, until: now + amount });
          } else if (what === 'get') expect(cache.get(key)).toBe(expected);
          else {
            expect(cache.delete(key)).toBe(expected !== undefined);
            model.delete(key);
          }
        });
      }),
    );
  });
});

describe('createBoundedStore', () => {
  /** A store of two objects over a server that a test changes. */
  function bounded(maxObjects = 2): {
    store: BoundedStore<KubeObject>;
    server: Map<string, KubeObject>;
    reads: string[];
  } {
    const server = new Map<string, KubeObject>();
    const reads: string[] = [];
    const read = async (key: string): Promise<KubeObject | undefined> => {
      reads.push(key);
      await Promise.resolve();
      return server.get(key);
    };
    return { store: createBoundedStore({ maxObjects, read }), server, reads };
  }

  it('has every key, holds what was used last, and reads the others again', async () => {
    const { store, server, reads } = bounded();
    for (const name of ['a', 'b', 'c']) {
      store.add(item(name));
      server.set(`a/${name}`, item(name));
    }
    expect([store.size, store.held, store.keys(), store.has('a/a')]).toEqual([3, 2, ['a/a', 'a/b', 'a/c'], true]);
    expect([store.peek('a/a'), store.resourceVersionOf('a/a')]).toEqual([undefined, '1']);
    await store.get('a/b');
    expect(reads).toEqual([]);
    expect((await store.get('a/a'))?.metadata?.name).toBe('a');
    // b was read after c.
    expect([reads, store.peek('a/b')?.metadata?.name, store.peek('a/c')]).toEqual([['a/a'], 'b', undefined]);
    expect(await store.get('a/unknown')).toBeUndefined();
    expect(reads).toHaveLength(1);
    store.replace([item('x')], '9');
    expect([store.keys(), store.held]).toEqual([['a/x'], 1]);
  });

  it('shares one read, prefers what the watch said meanwhile, and keeps nothing older', async () => {
    const { store, server, reads } = bounded(1);
    store.add(item('a', '5'));
    server.set('a/a', item('a', '5'));
    store.add(item('b', '6'));
    const [one, two] = await Promise.all([store.get('a/a'), store.get('a/a')]);
    expect([one === two, reads]).toEqual([true, ['a/a']]);
    store.add(item('b', '7'));
    server.set('a/a', item('a', '4'));
    await expect(store.get('a/a')).rejects.toThrow('returned version "4" 3 times');
    expect(store.peek('a/a')).toBeUndefined();
    const updated = store.get('a/a');
    store.update(item('a', '8'));
    expect((await updated)?.metadata?.resourceVersion).toBe('8');
    store.add(item('b', '9'));
    const deleted = store.get('a/a');
    store.delete(item('a'));
    expect([await deleted, store.has('a/a')]).toEqual([undefined, false]);
  });

  it('reads anew after a read that failed, was aborted or found nothing', async () => {
    let answer: () => Promise<KubeObject | undefined> = () => Promise.reject(new Error('down'));
    const store = createBoundedStore<KubeObject>({ maxObjects: 1, read: () => answer() });
    store.add(item('a'));
    store.add(item('b'));
    await expect(store.get('a/a')).rejects.toThrow('down');
    answer = () => Promise.resolve(undefined);
    expect([await store.get('a/a'), store.has('a/a')]).toEqual([undefined, true]);
    const gate = Promise.withResolvers<KubeObject>();
    answer = () => gate.promise;
    const stop = new AbortController();
    const [aborted, patient] = [store.get('a/a', { signal: stop.signal }), store.get('a/a')];
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    gate.resolve(item('a'));
    expect((await patient)?.metadata?.name).toBe('a');
  });

  it('refuses options that are not valid', () => {
    expect(() => createBoundedStore({ maxObjects: 0, read: () => Promise.resolve(undefined) })).toThrow('maxObjects 0');
    expect(() => createBoundedStore({ maxObjects: 1 } as never)).toThrow('read is not set');
  });
});
