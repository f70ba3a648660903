import { getHeapStatistics } from 'node:v8';

/** Memory that a store may keep for its next slabs, however large it is; it may leave half as much to the collector. */
const maxSpareBytes = 256 * 1024 * 1024;
/** Memory that may be left to the collector, however small stores and heap are. */
const minWaitingBytes = 64 * 1024 * 1024;
/** How much new memory outside of the heap makes the collector run. */
const pressureBytes = 64 * 1024 * 1024;

/** Memory left to the collector by all stores of this thread together, because it works for all of them at once. */
const left = { waitingBytes: 0, callAtBytes: 0 };

/** Memory that waits for the collector. */
interface LeftMemory {
  readonly bytes: number;
  /**
   * The memory, and the store that may use it again, if it still exists by then; unset if it is not to be used again.
   */
  readonly again?: { readonly memory: Buffer; readonly home: WeakRef<SlabMemory> };
}

/**
 * Memory for slabs. The memory of a slab is used again as soon as the garbage collector has found that no version
 * refers to that slab. Fresh memory costs as much as writing to it, because the system has to clear its pages; and
 * counted as pressure on the heap it would make the collector run for nothing but slabs, over the whole heap, which
 * during a storm of events costs as much as the events. So it is shared memory, which does not count, and the collector
 * is called when enough memory waits for it.
 */
export class SlabMemory {
  /**
   * One for all stores, because that of a store would be collected with it, and its memory would never be counted as
   * freed.
   */
  static readonly #left = new FinalizationRegistry<LeftMemory>(({ bytes, again }) => {
    left.waitingBytes -= bytes;
    left.callAtBytes = 0;
    // Memory that the store cannot use goes with the next collection, which is called for the memory waiting by then.
    const store = again?.home.deref();
    if (store !== undefined && again !== undefined) store.#keep(again.memory);
  });
  readonly #free: Buffer[] = [];
  readonly #self = new WeakRef<SlabMemory>(this);
  readonly #liveBytes: () => number;
  #freeBytes = 0;

  /** @param liveBytes the bytes in use; as much may be free */
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
    // Memory that is too small goes to the garbage collector, because the store has grown beyond it.
    return memory.length >= size ? memory : fresh(size);
  }

  /** Takes the memory back when nothing refers to its owner; until then it stays as it is. */
  takeBackAfter(owner: object, memory: Buffer): void {
    this.leave(owner, { bytes: memory.length, again: { memory, home: this.#self } });
  }

  /** Takes back memory without references. Free memory beyond the amount in use is left to the collector. */
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

  /** @returns false if there is enough for the next slabs */
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
 * How much may wait for the collector, which is half of the amount that the stores may keep, and of the heap that it
 * would mark. Because V8 lets a heap grow by about as much before it marks it, each collection costs as little for the
 * memory it frees as V8's own ones.
 */
export function waitingLimit(spareBytes: number, heapBytes: number): number {
  return Math.max(minWaitingBytes, spareBytes / 2, heapBytes / 2);
}

function fresh(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

/**
 * Memory that counts for the collector and costs nothing, because it is never touched and the system gives no pages for
 * it.
 */
function callCollector(): void {
  try {
    new ArrayBuffer(pressureBytes);
  } catch {
    // If there is no room for it, the collector has already run.
  }
}
