import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '@kctl/wait/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isStoreLockedError } from './errors.js';
import { openPersistence } from './persistence.js';
import { createStore, type Store } from './store.js';

const table = '/configmaps';
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kctl-store-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function open(): { store: Store; close: () => void; tidy: () => void } {
  const persistence = openPersistence({ directory });
  const store = createStore({ clock: new FakeClock(), writeAhead: (record) => persistence.append(record) });
  persistence.load(store);
  return { store, close: () => persistence.close(), tidy: () => persistence.tidy(store) };
}

function put(store: Store, key: string, value: unknown): void {
  const expected = store.table(table).get(key)?.revision ?? 0;
  store.commit({ table, key, expected, object: { metadata: { name: key, uid: `uid-${key}` }, value } });
}

const contents = (store: Store) =>
  [...store.table(table).scan({})].map(([key, { revision, object }]) => ({ key, revision, object }));

describe('Persistence', () => {
  it('§3.5: a restart keeps objects, uids, revisions and the history since', () => {
    const first = open();
    put(first.store, 'a', 1);
    put(first.store, 'b', 2n ** 60n);
    put(first.store, 'a', 3);
    first.store.commit({ table, key: 'b', expected: 3 });
    const before = contents(first.store);
    const { revision } = first.store;
    first.close();

    const second = open();
    expect(contents(second.store)).toEqual(before);
    expect(second.store.revision).toBe(revision);
    expect([...second.store.table(table).scan({ revision: 3 })].map(([, version]) => version.object['value'])).toEqual([
      1,
      2n ** 60n,
    ]);
    second.close();
  });

  it('§4.4: a torn last line, as a kill leaves it, is cut off; everything before it is there', () => {
    const first = open();
    put(first.store, 'a', 1);
    const before = contents(first.store);
    first.close();
    const [log] = readdirSync(directory).filter((name) => name.startsWith('log-'));
    appendFileSync(join(directory, log!), '{"revision":3,"table":"/configm');

    const second = open();
    expect(contents(second.store)).toEqual(before);
    put(second.store, 'b', 2);
    second.close();
    const third = open();
    expect(contents(third.store).map(({ key }) => key)).toEqual(['a', 'b']);
    third.close();
  });

  it('names the file and line of any other damage, and changes nothing', () => {
    const first = open();
    put(first.store, 'a', 1);
    first.close();
    const [log] = readdirSync(directory).filter((name) => name.startsWith('log-'));
    const path = join(directory, log!);
    const damaged = `garbage\n${readFileSync(path, 'utf8')}`;
    writeFileSync(path, damaged);
    expect(() => open()).toThrow(/line 1 is not JSON/);
    expect(readFileSync(path, 'utf8')).toBe(damaged);
  });

  it('refuses a directory that a live process has open', () => {
    const first = open();
    let failure: unknown;
    writeFileSync(join(directory, 'lock'), String(process.ppid));
    try {
      open();
    } catch (error) {
      failure = error;
    }
    expect(isStoreLockedError(failure)).toBe(true);
    first.close();
  });

  it('takes over the lock of a process that is gone', () => {
    writeFileSync(join(directory, 'lock'), '999999999');
    const { store, close } = open();
    put(store, 'a', 1);
    close();
  });

  it('replaces a long log by a snapshot, and expires what came before it', () => {
    const first = open();
    for (let i = 0; i < 10_001; i++) put(first.store, 'a', i);
    first.tidy();
    put(first.store, 'b', 1);
    const before = contents(first.store);
    first.close();
    expect(readdirSync(directory).filter((name) => name.endsWith('.jsonl'))).toHaveLength(2);
    const second = open();
    expect(contents(second.store)).toEqual(before);
    expect(second.store.table(table).floor).toBe(10_002);
    second.close();
  });
});
