import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { OwnWrite } from '../writes/own-write.js';

/** The recorded write of one key. */
export interface PendingWrite {
  readonly write: OwnWrite;
  readonly kind: Kind;
  /** Stores that have caught up; the record is dropped when all have. */
  readonly doneFor: Set<string>;
  /** Whether the stores are being looked into. */
  isLookedAt?: boolean;
}

/**
 * The recorded writes of one group and kind, by namespace and name, and in the order in which they were checked.
 * Retains the records that it contains; all operations are O(1), and {@link within} is O(size of its result).
 */
export class KindWrites {
  readonly #byNamespace = new Map<string, Map<string, PendingWrite>>();
  readonly #order = new Set<PendingWrite>();

  get size(): number {
    return this.#order.size;
  }

  get({ namespace = '', name }: ObjectKey): PendingWrite | undefined {
    return this.#byNamespace.get(namespace)?.get(name);
  }

  /** @returns the record that it replaces */
  put(pending: PendingWrite): PendingWrite | undefined {
    const { namespace = '', name } = pending.write.key;
    let kindWrites = this.#byNamespace.get(namespace);
    if (kindWrites === undefined) this.#byNamespace.set(namespace, (kindWrites = new Map<string, PendingWrite>()));
    const earlier = kindWrites.get(name);
    if (earlier !== undefined) this.#order.delete(earlier);
    kindWrites.set(name, pending);
    this.#order.add(pending);
    return earlier;
  }

  /** @returns whether it was there */
  delete(pending: PendingWrite): boolean {
    const { namespace = '', name } = pending.write.key;
    const kindWrites = this.#byNamespace.get(namespace);
    if (kindWrites?.get(name) !== pending) return false;
    kindWrites.delete(name);
    if (kindWrites.size === 0) this.#byNamespace.delete(namespace);
    return this.#order.delete(pending);
  }

  /** The records of a namespace, all if undefined or ''. */
  within(namespace: string | undefined): Iterable<PendingWrite> {
    if (namespace === undefined || namespace === '') return this.#order;
    return this.#byNamespace.get(namespace)?.values() ?? [];
  }

  /** Those that were not looked at for longest. */
  oldest(count: number): readonly PendingWrite[] {
    const found: PendingWrite[] = [];
    for (const pending of this.#order) {
      if (found.length === count) break;
      found.push(pending);
    }
    return found;
  }

  /** Marks it as checked. */
  touch(pending: PendingWrite): void {
    if (this.#order.delete(pending)) this.#order.add(pending);
  }
}
