/** Free memory that a store may keep for its next slabs, however large it is. */
const maxFreeBytes = 32 * 1024 * 1024;

/**
 * Memory for slabs. What a slab leaves behind is used again, as soon as the garbage collector has found that no version
 * refers to that slab any more. Fresh memory for each slab would make the collector run after every few slabs, over the
 * whole heap: during a storm of events that costs as much as the events.
 */
export class SlabMemory {
  readonly #free: Buffer[] = [];
  readonly #left: FinalizationRegistry<Buffer>;
  #freeBytes = 0;

  /** @param liveBytes what is in use: half as much may lie free */
  constructor(liveBytes: () => number) {
    this.#left = new FinalizationRegistry((memory) => {
      if (this.#freeBytes + memory.length > Math.min(maxFreeBytes, liveBytes() / 2)) return;
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
    if (memory === undefined) return Buffer.allocUnsafeSlow(size);
    this.#freeBytes -= memory.length;
    // One that is too small goes to the garbage collector: the store has grown beyond it.
    return memory.length >= size ? memory : Buffer.allocUnsafeSlow(size);
  }

  /** Takes the memory back when nothing refers to its owner any more; until then it stays as it is. */
  takeBackAfter(owner: object, memory: Buffer): void {
    this.#left.register(owner, memory);
  }
}
