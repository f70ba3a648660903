import type { KubeObject } from '@kctl/apimachinery';
import type { DecodedItem } from '../decoders/decoder.js';

/**
 * Counts the objects of a page, or of the initial events of a watch, that do not belong here. Among others only they
 * are lost; if there are no others, the whole answer is about another kind.
 */
export class Refusals {
  #taken = 0;
  #refused = 0;

  /** Returns whether it was refused. */
  count<T extends KubeObject>({ refused }: DecodedItem<T>): boolean {
    if (refused === undefined) this.#taken++;
    else this.#refused++;
    return refused !== undefined;
  }

  /** How many were refused, if there was nothing else since the last call; else 0. */
  take(): number {
    const count = this.#taken === 0 ? this.#refused : 0;
    this.#taken = 0;
    this.#refused = 0;
    return count;
  }
}
