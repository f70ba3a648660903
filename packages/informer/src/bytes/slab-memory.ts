import { getHeapStatistics } from 'node:v8';

/** Memory that a store may keep for its next slabs, however large it is; it may leave half as much to the collector. */
const maxSpareBytes = 256 * 1024 * 1024;
/** Memory that may be left to the collector, however small stores and heap are. */
const minWaitingBytes = 64 * 1024 * 1024;
/** How much new memory outside of the heap makes the collector run. */
const pressureBytes = 64 * 1024 * 1024;

/** What all stores of this thread together leave to the collector, which works for all of them at once. */
const left = { waitingBytes: 0, callAtBytes: 0 };

/** Memory that waits for the collector. */
interface LeftMemory {
  readonly bytes: number;
  /** The memory, and the store that may use it again, if it is still there by then; unset where it is not to be used again. */
  readonly again?: { readonly memory: Buffer; readonly home: WeakRef<SlabMemory> };
}

/**
 * Memory for slabs. What a slab leaves behind is used again, as soon as the garbage collector has found that no version
 * refers to that slab. Fresh memory costs as much as what is written to it, as the system has to clear its
 * pages; and counted as pressure on the heap it would make the collector run for nothing but slabs, over the whole heap,
 * which during a storm of events costs as much as the events. So it is shared memory, which does not count, and the
 * collector is called when enough waits for it.
 */
export class SlabMemory {
  /** One for all stores: that of a store would go with it, and what it left would never be counted as freed. */
  static readonly #left = new FinalizationRegistry<LeftMemory>(({ bytes, again }) => {
    left.waitingBytes -= bytes;
    left.callAtBytes = 0;
    // What the store has no use for goes with the next collection, which is called for what will wait by then.
    const store = again?.home.deref();
    if (store !== undefined && again !== undefined) store.#keep(again.memory);
  });
  readonly #free: Buffer[] = [];
  readonly #self = new WeakRef<SlabMemory>(this);
  readonly #liveBytes: () => number;
  #freeBytes = 0;

  /** @param liveBytes what is in use: as much may lie free */
  constructor(liveBytes: () => number) {
    this.#liveBytes = liveBytes;
  }

  /** Bytes that all stores of this thread have left to the collector. */
  static get waitingBytes(): number {
    return left.waitingBytes;
  }

  /** Bytes that lie free. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Memory of at least `size` bytes; what it holds is arbitrary. */
  allocate(size: number): Buffer {
    const memory = this.#free.pop();
    if (memory === undefined) return fresh(size);
    this.#freeBytes -= memory.length;
    // One that is too small goes to the garbage collector: the store has grown beyond it.
    return memory.length >= size ? memory : fresh(size);
  }

  /** Takes the memory back when nothing refers to its owner; until then it stays as it is. */
  takeBackAfter(owner: object, memory: Buffer): void {
    this.leave(owner, { bytes: memory.length, again: { memory, home: this.#self } });
  }

  /** Takes memory back that nothing refers to. What lies free beyond what is in use is left to the collector. */
  takeBack(memory: Buffer): void {
    if (!this.#keep(memory)) this.leave(memory, { bytes: memory.length });
    const spareBytes = this.#spareBytes();
    while (this.#freeBytes > spareBytes) {
      const spare = this.#free.pop();
      if (spare === undefined) break;
      this.#freeBytes -= spare.length;
      this.leave(spare, { bytes: spare.length });
    }
  }

  /** Leaves memory to the collector, which is called when enough waits for it. */
  leave(owner: object, memory: LeftMemory): void {
    SlabMemory.#left.register(owner, memory);
    left.waitingBytes += memory.bytes;
    if (left.waitingBytes <= Math.max(minWaitingBytes, left.callAtBytes)) return;
    const limit = waitingLimit(this.#spareBytes(), getHeapStatistics().used_heap_size);
    if (left.waitingBytes <= limit) return;
    left.callAtBytes = left.waitingBytes + limit;
    callCollector();
  }

  /** @returns false where there is enough for the next slabs */
  #keep(memory: Buffer): boolean {
    if (this.#freeBytes + memory.length > this.#spareBytes()) return false;
    this.#free.push(memory);
    this.#freeBytes += memory.length;
    return true;
  }

  #spareBytes(): number {
    return Math.min(maxSpareBytes, this.#liveBytes());
  }
}

/**
 * How much may wait for the collector: half of what the stores may keep, and of the heap that it would mark. As V8 lets a
 * heap grow by about as much before it marks it, each collection costs as little for what it frees as its own ones do.
 */
export function waitingLimit(spareBytes: number, heapBytes: number): number {
  return Math.max(minWaitingBytes, spareBytes / 2, heapBytes / 2);
}

function fresh(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

/** Memory that counts for the collector and costs nothing: it is never touched, so the system gives no pages for it. */
function callCollector(): void {
  try {
    new ArrayBuffer(pressureBytes);
  } catch {
    // Where there is no room for it, the collector has run already.
  }
}
