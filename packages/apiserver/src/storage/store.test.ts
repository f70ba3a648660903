import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLostRaceError } from './errors.js';
import { createStore, type Store } from './store.js';
import type { StoreEvent } from './table.js';

const table = '/configmaps';
const object = (name: string, value: number) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data: { value },
});

type Operation = { readonly type: 'put' | 'delete'; readonly name: string; readonly value: number };

const operations = fc.array(
  fc.record({
    type: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
    name: fc.constantFrom('a', 'b', 'c', 'd-1', 'd'),
    value: fc.nat(3),
  }),
  { maxLength: 200 },
);

function apply(store: Store, { type, name, value }: Operation): StoreEvent | undefined {
  const present = store.table(table).get(name);
  if (type === 'delete') {
    return present === undefined ? undefined : store.commit({ table, key: name, expected: present.revision });
  }
  return store.commit({ table, key: name, expected: present?.revision ?? 0, object: object(name, value) });
}

const listAt = (store: Store, revision: number): [string, unknown][] =>
  [...store.table(table).scan({ revision })].map(([key, version]) => [key, version.object['data']]);

describe('Store', () => {
  it('§4.4: revisions strictly grow and LIST at any revision is what was there then', () => {
    fc.assert(
      fc.property(operations, (ops) => {
        const store = createStore({ clock: new FakeClock() });
        const model = new Map<string, unknown>();
        const history = new Map<number, [string, unknown][]>();
        let before = store.revision;
        for (const operation of ops) {
          const event = apply(store, operation);
          if (event === undefined) continue;
          expect(event.revision).toBeGreaterThan(before);
          before = event.revision;
          if (operation.type === 'delete') model.delete(operation.name);
          else model.set(operation.name, { value: operation.value });
          history.set(
            event.revision,
            [...model].sort(([a], [b]) => (a < b ? -1 : 1)),
          );
        }
        for (const [revision, expected] of history) expect(listAt(store, revision)).toEqual(expected);
        expect(store.table(table).size).toBe(model.size);
      }),
    );
  });

  it('§4.4: replaying the events after any revision onto LIST at that revision gives LIST now', () => {
    fc.assert(
      fc.property(operations, fc.nat(200), (ops, from) => {
        const store = createStore({ clock: new FakeClock() });
        for (const operation of ops) apply(store, operation);
        const start = Math.min(1 + from, store.revision);
        const replayed = new Map(listAt(store, start));
        const events = store.table(table);
        for (
          let i = events.eventsAfter(start), event = events.eventAt(i);
          event !== undefined;
          event = events.eventAt(++i)
        ) {
          if (event.type === 'DELETED') replayed.delete(event.key);
          else replayed.set(event.key, event.current.object['data']);
        }
        expect([...replayed].sort(([a], [b]) => (a < b ? -1 : 1))).toEqual(listAt(store, store.revision));
      }),
    );
  });

  it('§4.4: compaction keeps every state at or after its revision', () => {
    fc.assert(
      fc.property(operations, fc.nat(200), (ops, at) => {
        const whole = createStore({ clock: new FakeClock() });
        const compacted = createStore({ clock: new FakeClock() });
        for (const operation of ops) {
          apply(whole, operation);
          apply(compacted, operation);
        }
        const target = compacted.compact(Math.min(1 + at, whole.revision));
        for (let revision = target; revision <= whole.revision; revision++)
          expect(listAt(compacted, revision)).toEqual(listAt(whole, revision));
        expect(compacted.table(table).floor).toBe(target);
      }),
    );
  });

  it('§4.4: of two writers with the same revision one wins', () => {
    const store = createStore({ clock: new FakeClock() });
    const first = store.commit({ table, key: 'a', expected: 0, object: object('a', 1) });
    store.commit({ table, key: 'a', expected: first.revision, object: object('a', 2) });
    let failure: unknown;
    try {
      store.commit({ table, key: 'a', expected: first.revision, object: object('a', 3) });
    } catch (error) {
      failure = error;
    }
    expect(isLostRaceError(failure)).toBe(true);
    expect(store.table(table).get('a')?.object['data']).toEqual({ value: 2 });
  });

  it('sets the resourceVersion of what it stores, also of what it deletes', () => {
    const store = createStore({ clock: new FakeClock() });
    const created = store.commit({ table, key: 'a', expected: 0, object: object('a', 1) });
    expect(created.current.object.metadata.resourceVersion).toBe('2');
    const deleted = store.commit({ table, key: 'a', expected: 2 });
    expect(deleted.current.object.metadata.resourceVersion).toBe('3');
    expect(deleted.current.object['data']).toEqual({ value: 1 });
  });

  it('keeps what a pin holds, however much history comes after', () => {
    const store = createStore({ clock: new FakeClock(), historyEvents: 3 });
    store.commit({ table, key: 'a', expected: 0, object: object('a', 1) });
    const pinned = store.revision;
    const unpin = store.pin(pinned);
    for (let i = 0; i < 10; i++) apply(store, { type: 'put', name: 'a', value: i });
    expect(listAt(store, pinned)).toEqual([['a', { value: 1 }]]);
    unpin();
    apply(store, { type: 'put', name: 'b', value: 0 });
    expect(store.table(table).floor).toBeGreaterThan(pinned);
  });

  it('forgets events that are older than the window', () => {
    const clock = new FakeClock();
    const store = createStore({ clock, historyMs: 1000 });
    apply(store, { type: 'put', name: 'a', value: 1 });
    apply(store, { type: 'delete', name: 'a', value: 0 });
    clock.advanceSync(2000);
    apply(store, { type: 'put', name: 'b', value: 1 });
    expect(store.table(table).floor).toBe(3);
    expect([...store.table(table).scan({})].map(([key]) => key)).toEqual(['b']);
  });

  it('tells a commit made by a listener after the commit that it listened to', () => {
    const store = createStore({ clock: new FakeClock() });
    const seen: number[] = [];
    store.subscribe((event) => {
      if (event.key === 'a') store.commit({ table, key: 'b', expected: 0, object: object('b', 1) });
    });
    store.subscribe((event) => seen.push(event.revision));
    store.commit({ table, key: 'a', expected: 0, object: object('a', 1) });
    expect(seen).toEqual([2, 3]);
  });

  it('freezes what it stores', () => {
    const store = createStore({ clock: new FakeClock() });
    const { current } = store.commit({ table, key: 'a', expected: 0, object: object('a', 1) });
    expect(Object.isFrozen(current.object.metadata)).toBe(true);
  });

  it('goes on counting after a restore, and expires everything before it', () => {
    const store = createStore({ clock: new FakeClock() });
    apply(store, { type: 'put', name: 'a', value: 1 });
    const snapshot = store.snapshot();
    apply(store, { type: 'put', name: 'a', value: 2 });
    const before = store.revision;
    store.restore(snapshot);
    expect(store.revision).toBeGreaterThan(before);
    expect(listAt(store, store.revision)).toEqual([['a', { value: 1 }]]);
    expect(store.table(table).floor).toBe(store.revision);
  });

  it('refuses a commit that cannot be written ahead, and changes nothing', () => {
    const store = createStore({
      clock: new FakeClock(),
      writeAhead: () => {
        throw new Error('disk full');
      },
    });
    expect(() => apply(store, { type: 'put', name: 'a', value: 1 })).toThrow('disk full');
    expect(store.revision).toBe(1);
    expect(store.table(table).get('a')).toBeUndefined();
  });
});
