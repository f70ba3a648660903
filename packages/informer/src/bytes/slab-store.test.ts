import { describe, expect, it, vi } from 'vitest';
import { SlabMemory } from './slab-memory.js';
import { ownWords, SlabStore, type SlabRange, type SlabTenant } from './slab-store.js';

const homeless = (): SlabTenant => ({ slab: undefined, offset: 0 });

/** Puts a text under a number, in place of the one before. */
function createShelf(store: SlabStore): { put(number: number, text: string): void; read(number: number): string } {
  const tenants = new Map<number, SlabTenant>();
  return {
    put: (number, text) => {
      const bytes = Buffer.from(text);
      const before = tenants.get(number);
      const tenant = homeless();
      store.put(tenant, bytes, { start: 0, end: bytes.length, cutStart: 0, cutEnd: 0 });
      tenants.set(number, tenant);
      if (before !== undefined) store.release(before);
    },
    read: (number) => {
      const tenant = tenants.get(number) ?? homeless();
      const { slab, offset } = tenant;
      return slab?.buffer.toString('latin1', offset, offset + store.lengthOf(tenant)) ?? '';
    },
  };
}

describe('SlabStore', () => {
  it('keeps every text readable while others come, go and move', () => {
    const store = new SlabStore();
    const shelf = createShelf(store);
    const texts = new Map<number, string>();
    for (let step = 0; step < 20_000; step++) {
      const number = (step * 7919) % 301;
      const text = `${step}:`.padEnd(20 + ((step * 31) % 3000), 'x');
      texts.set(number, text);
      shelf.put(number, text);
    }
    for (const [number, text] of texts) expect(shelf.read(number)).toBe(text);
  });

  it('stays small while a small store changes much', () => {
    const store = new SlabStore();
    const shelf = createShelf(store);
    for (let step = 0; step < 50_000; step++) shelf.put(step % 400, 'x'.repeat(1300));
    expect(store.liveBytes).toBe(400 * (1300 + ownWords * 4));
    expect(store.heldBytes).toBeLessThan(4 * store.liveBytes);
  });

  it('keeps a large store in few slabs, with little room left over', () => {
    const store = new SlabStore();
    const shelf = createShelf(store);
    for (let number = 0; number < 20_000; number++) shelf.put(number, 'x'.repeat(2000));
    expect(store.liveBytes).toBe(20_000 * (2000 + ownWords * 4));
    expect(store.heldBytes).toBeLessThan(1.15 * store.liveBytes);
  });

  it.each([
    [200, 40, 1500],
    [400, 10, 1500],
    [1000, 5, 700],
    [3000, 40, 1000],
  ])('keeps what follows when most of %d texts were given up', (count, kept, length) => {
    const store = new SlabStore();
    const texts: { readonly tenant: SlabTenant; readonly text: string }[] = [];
    const put = (number: number): void => {
      const tenant = homeless();
      const text = `${number}:`.padEnd(length, String(number % 10));
      store.put(tenant, Buffer.from(text), { start: 0, end: length, cutStart: 0, cutEnd: 0 });
      texts.push({ tenant, text });
    };
    for (let number = 0; number < count; number++) put(number);
    const isKept = (number: number): boolean => number % kept === 0 || number >= count;
    for (const [number, { tenant }] of texts.entries()) if (!isKept(number)) store.release(tenant);
    for (let number = count; number < 2 * count; number++) put(number);
    for (const [number, { tenant, text }] of texts.entries()) {
      const { slab, offset } = tenant;
      if (isKept(number)) expect(slab?.buffer.toString('latin1', offset, offset + length)).toBe(text);
    }
  });

  it('moves what is left of slabs together when most was given up, and lists each once from then on', () => {
    const store = new SlabStore();
    const tenants = Array.from({ length: 400 }, () => {
      const tenant = homeless();
      store.put(tenant, Buffer.alloc(2000), { start: 0, end: 2000, cutStart: 0, cutEnd: 0 });
      return tenant;
    });
    const filledBytes = store.heldBytes;
    const isKept = (_tenant: SlabTenant, number: number): boolean => number % 20 === 0;
    for (const [number, tenant] of tenants.entries()) if (!isKept(tenant, number)) store.discard(tenant);
    const kept = tenants.filter(isKept);
    expect(store.liveBytes).toBe(kept.length * (2000 + ownWords * 4));
    expect(store.heldBytes).toBeLessThan(filledBytes / 2);
    expect(new Set(store.spread(1000))).toEqual(new Set(kept));
    expect(store.spread(1000)).toHaveLength(kept.length);
    for (const tenant of kept) store.discard(tenant);
    expect([store.liveBytes, store.spread(1000)]).toEqual([0, []]);
  });

  it('loses nothing when there is no memory to move to, and moves once there is', () => {
    const store = new SlabStore();
    const put = (number: number): { tenant: SlabTenant; text: string } => {
      const tenant = homeless();
      const text = `${number}:`.padEnd(1500, String(number % 10));
      store.put(tenant, Buffer.from(text), { start: 0, end: 1500, cutStart: 0, cutEnd: 0 });
      return { tenant, text };
    };
    const all = Array.from({ length: 2000 }, (_, number) => put(number));
    const isFull = ({ slab, offset }: SlabTenant): boolean => offset + 3100 > (slab?.buffer.length ?? 0);
    for (let last = all.at(-1); last !== undefined && !isFull(last.tenant); all.push(last)) last = put(all.length);
    const kept = all.filter((_, number) => number % 5 === 0);
    let refusals = 0;
    const refuse = function (): never {
      refusals++;
      throw new RangeError('Array buffer allocation failed');
    };
    const release = ({ tenant }: { tenant: SlabTenant }): void => {
      try {
        store.release(tenant);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    };
    const given = all.filter((_, number) => number % 5 > 0);
    vi.stubGlobal('SharedArrayBuffer', refuse);
    try {
      given.slice(0, -20).forEach(release);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(refusals).toBeGreaterThan(1);
    const heldBytes = store.heldBytes;
    given.slice(-20).forEach(release);
    expect(store.heldBytes).toBeLessThan(heldBytes);
    expect(store.liveBytes).toBe(kept.length * (1500 + ownWords * 4));
    for (let number = 0; number < 500; number++) kept.push(put(number));
    for (const { tenant, text } of kept) {
      const { slab, offset } = tenant;
      expect(slab?.buffer.toString('latin1', offset, offset + 1500)).toBe(text);
    }
    for (const { tenant } of kept) store.release(tenant);
    expect(store.liveBytes).toBe(0);
  });

  it('uses one slab for all, and leaves nothing to the collector, where each text is discarded when it was read', () => {
    const store = new SlabStore();
    const before = SlabMemory.waitingBytes;
    const bytes = Buffer.alloc(2000, 'x');
    for (let number = 0; number < 10_000; number++) {
      const tenant = homeless();
      store.put(tenant, bytes, { start: 0, end: 2000, cutStart: 0, cutEnd: 0 });
      store.discard(tenant);
      store.discard(tenant);
    }
    expect(store.liveBytes).toBe(0);
    expect(store.heldBytes).toBe(64 * 1024);
    expect(SlabMemory.waitingBytes).toBe(before);
  });

  it('writes over nothing that something else may still read, whatever is discarded', () => {
    const store = new SlabStore();
    const read = ({ slab, offset }: SlabTenant): string | undefined =>
      slab?.buffer.toString('latin1', offset, offset + 500);
    const put = (text: string): SlabTenant => {
      const tenant = homeless();
      store.put(tenant, Buffer.from(text), { start: 0, end: 500, cutStart: 0, cutEnd: 0 });
      return tenant;
    };
    const held = new Map<string, SlabTenant>();
    for (let number = 0; number < 5000; number++) {
      const text = `${number}:`.padEnd(500, String(number % 10));
      const tenant = put(text);
      if (number % 97 === 0) {
        held.set(text, tenant);
        store.release(tenant);
      } else store.discard(tenant);
    }
    for (const [text, tenant] of held) expect(read(tenant)).toBe(text);
  });

  it('names what has been here for longest, of one slab at a time and never the newest', () => {
    const store = new SlabStore();
    const put = (): SlabTenant => {
      const tenant = homeless();
      store.put(tenant, Buffer.alloc(4_000), { start: 0, end: 4_000, cutStart: 0, cutEnd: 0 });
      return tenant;
    };
    const first = [put()];
    let second = put();
    for (; second.slab === first[0]?.slab; second = put()) first.push(second);
    put();
    expect(store.oldest(1_000_000, Infinity)).toEqual(first);
    expect(store.oldest(2, Infinity)).toEqual(first.slice(0, 2));
    expect(store.oldest(1_000_000, 4_001)).toEqual(first.slice(0, 2));
    for (const tenant of first) store.discard(tenant);
    expect(store.oldest(1, Infinity)).toEqual([second]);
  });

  it('refuses a range that lies beyond the bytes, and is as it was then', () => {
    const store = new SlabStore();
    const tenant = homeless();
    const bytes = Buffer.from('0123456789');
    const put = (range: SlabRange) => (): void => store.put(tenant, bytes, range);
    expect(put({ start: 0, end: 11, cutStart: 0, cutEnd: 0 })).toThrow(
      'the range 0 to 11 (without 0 to 0) of 10 bytes cannot be kept: 11 bytes were to be copied, 10 were',
    );
    expect(put({ start: 0, end: 12, cutStart: 2, cutEnd: 4 })).toThrow(RangeError);
    expect(store.liveBytes).toBe(0);
    store.release(tenant);
    expect(store.liveBytes).toBe(0);
  });
});
