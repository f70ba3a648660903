/** Memory that a store may keep for its next slabs, however large it is; it may leave half as much to the collector. */
const maxSpareBytes = 256 * 1024 * 1024;
/** Memory that may be left to the collector, however small the stores are. */
const minWaitingBytes = 64 * 1024 * 1024;
/** How much new memory outside of the heap makes the collector run. */
const pressureBytes = 64 * 1024 * 1024;

/** What all stores of this thread together leave to the collector, which works for all of them at once. */
const left = { waitingBytes: 0, callAtBytes: 0 };

/** Memory that waits for the collector, and the store that may use it again, if it is still there by then. */
interface LeftMemory {
  readonly memory: Buffer;
  readonly home: WeakRef<SlabMemory>;
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
  static readonly #left = new FinalizationRegistry<LeftMemory>(({ memory, home }) => {
    left.waitingBytes -= memory.length;
    left.callAtBytes = 0;
    const store = home.deref();
    if (store !== undefined) store.takeBack(memory);
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
    SlabMemory.#left.register(owner, { memory, home: this.#self });
    left.waitingBytes += memory.length;
    const limit = Math.max(minWaitingBytes, this.#spareBytes() / 2);
    if (left.waitingBytes <= Math.max(limit, left.callAtBytes)) return;
    left.callAtBytes = left.waitingBytes + limit;
    callCollector();
  }

  /** Takes memory back that nothing refers to. */
  takeBack(memory: Buffer): void {
    if (this.#freeBytes + memory.length > this.#spareBytes()) return;
    this.#free.push(memory);
    this.#freeBytes += memory.length;
  }

  #spareBytes(): number {
    return Math.min(maxSpareBytes, this.#liveBytes());
  }
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
