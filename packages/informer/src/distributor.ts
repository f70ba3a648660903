import type { KubeObject } from '@kctl/apimachinery';
import type { Change } from './change.js';
import type { HandlerQueue } from './handler-queue.js';

/** Offers each change to every handler that is concerned. Offering never waits and never throws. */
export class Distributor<T extends KubeObject> {
  readonly #queues = new Set<HandlerQueue<T>>();
  #list: readonly HandlerQueue<T>[] = [];
  #epoch = 0;
  #hasOfferedInitialList = false;
  #isDraining = false;

  get queues(): readonly HandlerQueue<T>[] {
    return this.#list;
  }

  /** Drains that a handler joining now must not hear of are those up to this number. */
  get nextEpoch(): number {
    return this.#epoch + 1;
  }

  /** Whether the initial list is being, or has been, offered. */
  get hasBegun(): boolean {
    return this.#epoch > 0;
  }

  get hasOfferedInitialList(): boolean {
    return this.#hasOfferedInitialList;
  }

  /** Whether a replaced store's changes are being offered. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  add(queue: HandlerQueue<T>): void {
    this.#queues.add(queue);
    this.#list = [...this.#queues];
  }

  remove(queue: HandlerQueue<T>): void {
    this.#queues.delete(queue);
    this.#list = [...this.#queues];
  }

  dispatch(change: Change<T>): void {
    for (const queue of this.#list) queue.offer(change);
  }

  beginDrain(): number {
    this.#epoch++;
    this.#isDraining = true;
    return this.#epoch;
  }

  dispatchDrained(change: Change<T>, epoch: number): void {
    for (const queue of this.#list) if (queue.firstEpoch <= epoch) queue.offer(change);
  }

  endDrain(epoch: number): void {
    this.#isDraining = false;
    if (this.#hasOfferedInitialList) return;
    this.#hasOfferedInitialList = true;
    for (const queue of this.#list) if (queue.firstEpoch <= epoch) queue.initialListOffered();
  }

  beginSlice(): void {
    for (const queue of this.#list) queue.beginSlice();
  }
}
