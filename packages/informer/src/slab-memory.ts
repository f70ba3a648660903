/** Memory that a store may leave behind, or keep for its next slabs, however large it is; and however small. */
const maxSpareBytes = 192 * 1024 * 1024;
const minWaitingBytes = 64 * 1024 * 1024;
/** How much new memory outside of the heap makes the collector run. */
const pressureBytes = 64 * 1024 * 1024;

/**
 * Memory for slabs. What a slab leaves behind is used again, as soon as the garbage collector has found that no version
 * refers to that slab any more. Fresh memory costs as much as what is written to it, as the system has to clear its
 * pages; and counted as pressure on the heap it would make the collector run for nothing but slabs, over the whole heap,
 * which during a storm of events costs as much as the events. So it is shared memory, which does not count, and the
 * collector is called when enough waits for it.
 */
export class SlabMemory {
  readonly #free: Buffer[] = [];
  readonly #left: FinalizationRegistry<Buffer>;
  readonly #liveBytes: () => number;
  #freeBytes = 0;
  #waitingBytes = 0;
  #callAtBytes = 0;

  /** @param liveBytes what is in use: half as much may lie free */
  constructor(liveBytes: () => number) {
    this.#liveBytes = liveBytes;
    this.#left = new FinalizationRegistry((memory) => this.#takeBack(memory));
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

  /** Takes the memory back when nothing refers to its owner any more; until then it stays as it is. */
  takeBackAfter(owner: object, memory: Buffer): void {
    this.#left.register(owner, memory);
    this.#waitingBytes += memory.length;
    const limit = Math.max(minWaitingBytes, this.#spareBytes());
    if (this.#waitingBytes <= Math.max(limit, this.#callAtBytes)) return;
    this.#callAtBytes = this.#waitingBytes + limit;
    callCollector();
  }

  #takeBack(memory: Buffer): void {
    this.#waitingBytes -= memory.length;
    this.#callAtBytes = 0;
    if (this.#freeBytes + memory.length > this.#spareBytes()) return;
    this.#free.push(memory);
    this.#freeBytes += memory.length;
  }

  #spareBytes(): number {
    return Math.min(maxSpareBytes, this.#liveBytes() / 2);
  }
}

function fresh(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

/** Memory that counts for the collector and costs nothing: nobody touches it, so the system gives no pages for it. */
function callCollector(): void {
  try {
    new ArrayBuffer(pressureBytes);
  } catch {
    // Where there is no room for it, the collector has run already.
  }
}
