/** Memory that a store may leave behind, or keep for its next slabs, however large it is. */
const maxSpareBytes = 128 * 1024 * 1024;

/**
 * Memory for slabs. What a slab leaves behind is used again, as soon as the garbage collector has found that no version
 * refers to that slab any more. Two things keep the collector from running for nothing but slabs, over the whole heap,
 * which during a storm of events costs as much as the events: the memory is not counted as pressure on the heap, which
 * shared memory is not, and most of it comes from what earlier slabs left behind, so that the system need not clear pages.
 * When more waits for the collector than may lie idle, the next slabs do count, until it has run.
 */
export class SlabMemory {
  readonly #free: Buffer[] = [];
  readonly #left: FinalizationRegistry<Buffer>;
  readonly #liveBytes: () => number;
  #freeBytes = 0;
  #waitingBytes = 0;

  /** @param liveBytes what is in use: half as much may lie free, and half as much may wait for the collector */
  constructor(liveBytes: () => number) {
    this.#liveBytes = liveBytes;
    this.#left = new FinalizationRegistry((memory) => {
      this.#waitingBytes -= memory.length;
      if (this.#freeBytes + memory.length > this.#spareBytes) return;
      this.#free.push(memory);
      this.#freeBytes += memory.length;
    });
  }

  /** Bytes that lie free. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Memory of at least `size` bytes; what it holds is arbitrary. */
  allocate(size: number): Buffer {
    const memory = this.#free.pop();
    if (memory !== undefined) {
      this.#freeBytes -= memory.length;
      // One that is too small goes to the garbage collector: the store has grown beyond it.
      if (memory.length >= size) return memory;
    }
    return this.#waitingBytes > this.#spareBytes
      ? Buffer.allocUnsafeSlow(size)
      : Buffer.from(new SharedArrayBuffer(size));
  }

  /** Takes the memory back when nothing refers to its owner any more; until then it stays as it is. */
  takeBackAfter(owner: object, memory: Buffer): void {
    this.#waitingBytes += memory.length;
    this.#left.register(owner, memory);
  }

  get #spareBytes(): number {
    return Math.min(maxSpareBytes, this.#liveBytes() / 2);
  }
}
