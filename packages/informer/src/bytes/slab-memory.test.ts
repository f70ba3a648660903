import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { SlabMemory, waitingLimit } from './slab-memory.js';
import { SlabStore, type SlabTenant } from './slab-store.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Runs the collector until a condition holds: callbacks of a FinalizationRegistry come in tasks of their own. */
async function collectUntil(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 50 && !condition(); round++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const homeless = (): SlabTenant => ({ slab: undefined, offset: 0 });
const textOf = ({ slab, offset }: SlabTenant, length: number): string =>
  slab?.buffer.toString('latin1', offset, offset + length) ?? '';

describe('SlabMemory', () => {
  it('counts what a store left as waiting until it is collected, also when the store has gone before', async () => {
    const leave = (): void => {
      const memory = new SlabMemory(() => 1000);
      memory.takeBackAfter({}, memory.allocate(400));
    };
    await collectUntil(() => SlabMemory.waitingBytes === 0); // of other files in this process
    leave();
    expect(SlabMemory.waitingBytes).toBe(400);
    await collectUntil(() => SlabMemory.waitingBytes === 0);
    expect(SlabMemory.waitingBytes).toBe(0);
  });

  it('hands memory out again when nobody refers to its owner', async () => {
    const memory = new SlabMemory(() => 1000);
    const buffer = memory.allocate(400);
    const leave = (): void => memory.takeBackAfter({}, buffer);
    leave();
    await collectUntil(() => memory.freeBytes > 0);
    expect(memory.freeBytes).toBe(400);
    expect(memory.allocate(300)).toBe(buffer);
    expect(memory.freeBytes).toBe(0);
    expect(memory.allocate(300)).not.toBe(buffer);
  });

  it('hands out again at once what nobody refers to, unless it is too small', () => {
    const memory = new SlabMemory(() => 1000);
    const [small, large] = [memory.allocate(100), memory.allocate(400)];
    memory.takeBack(small);
    memory.takeBack(large);
    expect([memory.allocate(300), memory.freeBytes]).toEqual([large, 100]);
    expect([memory.allocate(300) === small, memory.freeBytes]).toEqual([false, 0]);
  });

  it('leaves memory alone while its owner is held', async () => {
    const [memory, other] = [new SlabMemory(() => 1000), new SlabMemory(() => 1000)];
    const owner = {};
    const leave = (): void => other.takeBackAfter({}, other.allocate(400));
    memory.takeBackAfter(owner, memory.allocate(400));
    leave();
    await collectUntil(() => other.freeBytes > 0);
    expect([other.freeBytes, memory.freeBytes]).toEqual([400, 0]);
    expect(owner).toEqual({});
  });

  it('keeps no more than is in use, and nothing that is too small', async () => {
    const memory = new SlabMemory(() => 500);
    const leave = (): void => {
      for (let count = 0; count < 4; count++) memory.takeBackAfter({}, memory.allocate(200));
    };
    leave();
    await collectUntil(() => memory.freeBytes >= 400);
    expect(memory.freeBytes).toBe(400);
    expect(memory.allocate(300)).toHaveLength(300);
    expect(memory.freeBytes).toBe(200);
  });

  it('leaves what lies free beyond what is in use to the collector, and counts it until it has gone', async () => {
    await collectUntil(() => SlabMemory.waitingBytes === 0);
    let liveBytes = 1000;
    const memory = new SlabMemory(() => liveBytes);
    const give = (count: number): void => {
      for (const each of Array.from({ length: count }, () => memory.allocate(200))) memory.takeBack(each);
    };
    give(4);
    expect(memory.freeBytes).toBe(800);
    expect(SlabMemory.waitingBytes).toBe(0);
    liveBytes = 300;
    give(1);
    expect(memory.freeBytes).toBe(200);
    expect(SlabMemory.waitingBytes).toBe(600);
    await collectUntil(() => SlabMemory.waitingBytes === 0);
    expect(SlabMemory.waitingBytes).toBe(0);
  });

  it.each([false, true])(
    'calls the collector when enough waits for it, and again when as much more does (no room: %s)',
    async (isFull) => {
      await collectUntil(() => SlabMemory.waitingBytes === 0);
      const calls: unknown[] = [];
      const pressure = new Proxy(ArrayBuffer, {
        construct: (of, sizes, target) => {
          calls.push(...sizes);
          if (isFull) throw new RangeError('Array buffer allocation failed');
          return Reflect.construct(of, [0], target) as ArrayBuffer;
        },
      });
      const memory = new SlabMemory(() => 0);
      const owners: object[] = [];
      const leave = (bytes: number): number => {
        const owner = {};
        owners.push(owner);
        memory.leave(owner, { bytes });
        return calls.length;
      };
      vi.stubGlobal('ArrayBuffer', pressure);
      try {
        // More than half of any heap of a test.
        const much = 2 ** 44;
        expect([leave(1), leave(much), leave(1), leave(2 ** 25), leave(much)]).toEqual([0, 1, 1, 1, 2]);
        expect(calls).toEqual([2 ** 26, 2 ** 26]);
      } finally {
        vi.unstubAllGlobals();
      }
      expect(owners).toHaveLength(5);
    },
  );

  it.each([
    [0, 0, 64],
    [512, 20, 256],
    [10, 300, 150],
  ])('lets half of %d MB of stores or of %d MB of heap wait, and %d MB then', (spare, heap, limit) => {
    expect(waitingLimit(spare * 2 ** 20, heap * 2 ** 20)).toBe(limit * 2 ** 20);
  });

  it('keeps a version readable that somebody holds, however much is written after it', async () => {
    const store = new SlabStore();
    const tenants: SlabTenant[] = [];
    const held: { readonly tenant: SlabTenant; readonly text: string }[] = [];
    let step = 0;
    const write = (count: number): void => {
      for (const end = step + count; step < end; step++) {
        const place = (step * 7919) % 211;
        // As long as the text before it, so that a slab that comes back is as large as what may be kept.
        const bytes = Buffer.from(`${step}:`.padEnd(500 + ((place * 28) % 3000), String(step % 10)));
        const before = tenants[place];
        const tenant = homeless();
        tenants[place] = tenant;
        store.put(tenant, bytes, { start: 0, end: bytes.length, cutStart: 0, cutEnd: 0 });
        if (before !== undefined) store.release(before);
        // In one slab of five, so that the others come back.
        if (step % 997 === 0) held.push({ tenant, text: bytes.toString() });
      }
    };
    // In one step of the event loop nothing comes back, so each round waits until something does, and writes over it.
    for (let round = 0; round < 5; round++) {
      write(2000);
      const { heldBytes } = store;
      await collectUntil(() => store.heldBytes > heldBytes);
      expect(store.heldBytes).toBeGreaterThan(heldBytes);
    }
    write(2000);
    for (const { tenant, text } of held) expect(textOf(tenant, text.length)).toBe(text);
  });
});
