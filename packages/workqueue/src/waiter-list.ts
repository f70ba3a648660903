import { abortReason } from '@kctl/wait';

/** Somebody who waits for the next item. */
export interface Waiter<V> {
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (reason: Error) => void;
}

/** Waiters in the order of their arrival. A Set would leave holes at its start; the removal by abort needs the middle. */
export class WaiterList<V> {
  readonly #waiters = new Map<number, Waiter<V>>();
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#waiters.size;
  }

  /** Waits for {@link resolveNext}, or for the abort. */
  wait(signal: AbortSignal | undefined): Promise<V | undefined> {
    if (signal?.aborted === true) return Promise.reject(abortReason(signal));
    return new Promise((resolve, reject) => {
      const ticket = this.#end++;
      if (signal === undefined) {
        this.#waiters.set(ticket, { resolve, reject });
        return;
      }
      const onAbort = (): void => {
        this.#waiters.delete(ticket);
        if (this.#waiters.size === 0) this.#first = this.#end;
        reject(abortReason(signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const settle = (value: V | undefined): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      };
      this.#waiters.set(ticket, { resolve: settle, reject });
    });
  }

  /** Gives the value to whoever waits longest; call it only where `size` > 0. */
  resolveNext(value: V | undefined): void {
    for (;;) {
      const waiter = this.#waiters.get(this.#first);
      this.#waiters.delete(this.#first++);
      if (waiter === undefined) continue;
      waiter.resolve(value);
      return;
    }
  }
}
