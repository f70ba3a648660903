import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CompactTenant } from './cold-block.js';
import { ColdBlock } from './cold-block.js';
import { CompactStore } from './compact-store.js';
import { ownWords } from './slab-store.js';

const noteWords = 2;

/** A store that compresses at once, with what was put into it. */
function createShelf(): {
  readonly store: CompactStore;
  put(bytes: Buffer): CompactTenant;
  read(tenant: CompactTenant): Buffer | undefined;
} {
  const store = new CompactStore({ noteWords, plainBytes: 0 });
  return {
    store,
    put: (bytes) => {
      const tenant: CompactTenant = { slab: undefined, offset: 0, uid: '', generation: undefined };
      store.put(tenant, bytes, { start: 0, end: bytes.length, cutStart: 0, cutEnd: 0 });
      return tenant;
    },
    read: (tenant) => tenant.slab?.buffer.subarray(tenant.offset, tenant.offset + store.lengthOf(tenant)),
  };
}

describe('CompactStore', () => {
  it.each([
    ['small ones', [100, 100, 100, 100]],
    ['a large one behind a small one', [1_000, 100_000, 10, 10]],
    ['ever larger ones', [10_000, 90_000, 20_000, 300_000, 10, 10]],
  ])('returns the bytes of %s', (_what, lengths) => {
    const { put, read } = createShelf();
    const kept = lengths.map((length) => {
      const bytes = randomBytes(length);
      return { bytes, tenant: put(bytes) };
    });
    expect(kept[0]?.tenant.slab).toBeInstanceOf(ColdBlock);
    for (const { bytes, tenant } of kept) expect(read(tenant)?.equals(bytes)).toBe(true);
  });

  it('keeps at most eight in a block, and gives a block up when less than a quarter of it is left', () => {
    const { store, put, read } = createShelf();
    const kept = Array.from({ length: 18 }, () => {
      const bytes = randomBytes(500);
      return { bytes, tenant: put(bytes) };
    });
    const blocks = new Map<unknown, typeof kept>();
    for (const each of kept) blocks.set(each.tenant.slab, [...(blocks.get(each.tenant.slab) ?? []), each]);
    const cold = [...blocks].filter(([slab]) => slab instanceof ColdBlock);
    for (const [, members] of cold) expect(members.length).toBeLessThanOrEqual(8);
    for (const [slab, members] of cold) {
      const [last, ...others] = members;
      for (const { tenant } of others) {
        expect(last?.tenant.slab).toBe(slab);
        store.release(tenant);
        store.release(tenant);
      }
      expect(last && read(last.tenant)?.equals(last.bytes)).toBe(true);
      for (const { tenant, bytes } of others) expect(read(tenant)?.equals(bytes)).toBe(true);
    }
  });

  it('holds nothing once everything was released or discarded', () => {
    const { store, put } = createShelf();
    const tenants = Array.from({ length: 40 }, () => put(randomBytes(300)));
    for (const [index, tenant] of tenants.entries())
      if (index % 2 === 0) store.release(tenant);
      else store.discard(tenant);
    expect(store.liveBytes).toBe(0);
  });

  it('gives the memory of a decompressed block back when another one is read', () => {
    const { put, read } = createShelf();
    const tenants = Array.from({ length: 40 }, () => put(randomBytes(3_000)));
    const [first] = tenants;
    const other = tenants.find(({ slab }) => slab instanceof ColdBlock && slab !== first?.slab);
    if (first === undefined || other === undefined) throw new Error('not in two blocks');
    const image = read(first);
    expect(image).toHaveLength(3_000);
    expect(read(other)).toHaveLength(3_000);
    expect(image).toHaveLength(0);
    expect(read(first)).toHaveLength(3_000);
  });

  it('learns its dictionary from whole objects', () => {
    const { put } = createShelf();
    const [first] = [put(randomBytes(402)), put(randomBytes(402))];
    if (!(first.slab instanceof ColdBlock)) throw new Error('not compressed');
    // With the words before them, rounded up to words.
    expect(first.slab.dictionary).toHaveLength(2 * (404 + (ownWords + noteWords) * 4));
  });
});
