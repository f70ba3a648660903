/**
 * Called with the slot that is handed out, or -1 if the queue is shut down and nothing is left, or if a custom backing
 * queue failed, with its error.
 */
export type Waiter = (slot: number, failure?: Error) => void;

/** A waiter's place in the line. */
interface Place {
  readonly waiter: Waiter;
  isTaken: boolean;
  before: Place | undefined;
  after: Place | undefined;
}

/**
 * Waiters in the order of their arrival. Linked, because removal needs the middle, and a Map that becomes empty is
 * allocated anew.
 */
export class WaiterList {
  #first: Place | undefined;
  #last: Place | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the function that removes the waiter. */
  add(waiter: Waiter): () => void {
    const place: Place = { waiter, isTaken: true, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size++;
    return () => this.#remove(place);
  }

  /** Serves the waiter that has waited longest; call it only if `size` > 0. */
  serveNext(slot: number, failure?: Error): void {
    const place = this.#first;
    if (place === undefined) return;
    this.#remove(place);
    place.waiter(slot, failure);
  }

  #remove(place: Place): void {
    if (!place.isTaken) return;
    place.isTaken = false;
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    this.#size--;
  }
}
