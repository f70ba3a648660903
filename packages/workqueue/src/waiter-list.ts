/**
 * Called with the slot that is handed out, or -1 where the queue is shut down and nothing is left, or where a custom
 * backing queue failed, with its error.
 */
export type Waiter = (slot: number, failure?: Error) => void;

/** Waiters in the order of their arrival. A Set would leave holes at its start; removal needs the middle. */
export class WaiterList {
  readonly #waiters = new Map<number, Waiter>();
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#waiters.size;
  }

  /** Returns the function that removes the waiter. */
  add(waiter: Waiter): () => void {
    const ticket = this.#end++;
    this.#waiters.set(ticket, waiter);
    return () => {
      this.#waiters.delete(ticket);
      if (this.#waiters.size === 0) this.#first = this.#end;
    };
  }

  /** Serves the waiter that has waited longest; call it only where `size` > 0. */
  serveNext(slot: number, failure?: Error): void {
    for (;;) {
      const waiter = this.#waiters.get(this.#first);
      this.#waiters.delete(this.#first++);
      if (waiter === undefined) continue;
      waiter(slot, failure);
      return;
    }
  }
}
