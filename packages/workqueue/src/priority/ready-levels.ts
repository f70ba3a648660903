/**
 * Slots that are ready, by priority. A slot that is being processed meanwhile is parked, so it has a place, but waits.
 */
export interface ReadyLevels {
  /** Number of slots that can be taken, without the parked ones. */
  readonly length: number;
  /** The lowest priority of the slots that can be taken; Infinity if no slot can be taken. */
  readonly lowest: number;
  /** A slot that has become ready. */
  push(slot: number, priority: number, isParked: boolean): void;
  /** Moves a slot to a higher priority. */
  raise(slot: number, from: number, to: number): void;
  /** Removes a slot, parked or not. */
  remove(slot: number, priority: number): void;
  /** The slots that are not parked, the most urgent one first. */
  slots(): number[];
  /** The processing of a parked slot has ended. */
  unpark(slot: number, priority: number): void;
  /** Removes and returns the most urgent slot that is not parked; -1 if no slot can be taken. */
  take(): number;
  /** Removes and returns the oldest slot of the lowest priority that is not parked; -1 if no slot can be taken. */
  takeLowest(): number;
  /** Removes all slots, parked ones too; `onDrop` gets each with its priority. */
  clear(onDrop: (slot: number, priority: number) => void): void;
  /** Gives up memory; call it only when no slot is in a level. */
  release(): void;
}

/** Levels that are not empty, ascending by priority. */
export class ActiveLevels<L extends { readonly priority: number }> {
  readonly list: L[] = [];

  add(level: L): void {
    if ((this.list.at(-1)?.priority ?? -Infinity) < level.priority) this.list.push(level);
    else this.list.splice(this.#indexOf(level.priority), 0, level);
  }

  remove(level: L): void {
    if (this.list.at(-1) === level) this.list.pop();
    else this.list.splice(this.#indexOf(level.priority), 1);
  }

  /** Place of a priority, present or not. */
  #indexOf(priority: number): number {
    let low = 0;
    let high = this.list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.list[middle]?.priority ?? Infinity) < priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
