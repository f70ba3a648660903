/** Units of work that were begun between two checkpoints. */
export interface Epoch {
  left: number;
  readonly reached: (() => void)[];
}

/**
 * Calls back when all work that was begun before a moment has ended, in whatever order it ends. Each operation is O(1)
 * besides the number of checkpoints that are open at the same time.
 */
export class Checkpoints {
  /** Those that are not reached, oldest first; work that begins belongs to the last one, unless it is closed. */
  #open: Epoch[] = [];

  /** One more unit of work. */
  begin(): Epoch {
    let epoch = this.#open.at(-1);
    if (epoch === undefined || epoch.reached.length > 0) this.#open.push((epoch = { left: 0, reached: [] }));
    epoch.left++;
    return epoch;
  }

  end(epoch: Epoch): void {
    epoch.left--;
    while (this.#open[0]?.left === 0) for (const reached of this.#open.shift()?.reached ?? []) reached();
  }

  /** Calls back when everything that was begun so far has ended; at once if nothing is in progress. */
  mark(reached: () => void): void {
    const epoch = this.#open.at(-1);
    if (epoch === undefined) reached();
    else epoch.reached.push(reached);
  }

  /** Forgets all work; no callback follows. */
  clear(): void {
    this.#open = [];
  }
}
