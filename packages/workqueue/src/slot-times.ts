const initialCapacity = 64;

/**
 * A moment for each slot that has one. Not a Map, because one that becomes empty with each item is allocated anew with
 * each item.
 */
export class SlotTimes {
  #times = new Float64Array(initialCapacity).fill(Number.NaN);

  set(slot: number, at: number): void {
    if (slot >= this.#times.length) this.#grow(slot);
    this.#times[slot] = at;
  }

  /** Removes and returns the moment of a slot; undefined if it has none. */
  take(slot: number): number | undefined {
    const at = this.#times[slot] ?? Number.NaN;
    if (Number.isNaN(at)) return undefined;
    this.#times[slot] = Number.NaN;
    return at;
  }

  /** All moments. O(slots). */
  all(): number[] {
    const all: number[] = [];
    for (const at of this.#times) if (!Number.isNaN(at)) all.push(at);
    return all;
  }

  /** Releases memory; call it only if no slot has a moment. */
  release(): void {
    if (this.#times.length > initialCapacity) this.#times = new Float64Array(initialCapacity).fill(Number.NaN);
  }

  #grow(slot: number): void {
    const former = this.#times;
    this.#times = new Float64Array(Math.max(slot + 1, former.length * 2)).fill(Number.NaN, former.length);
    this.#times.set(former);
  }
}
